"""Run by an interpreter that Proctor is installed into: looks, in every sandbox it has, for what must not be seen.

Called with a file of what to look for; prints one JSON object: where it looked -> what it saw, or why it could not.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from proctor.domain.errors import SandboxError
from proctor.domain.sandbox import Program, SandboxLimits
from proctor.domain.workspace import WorkspaceLimits
from proctor.sandboxes import backends
from proctor.sandboxes.workspaces import runners

LIMITS = SandboxLimits(wall_seconds=200, cpu_seconds=100)
# Whatever can be opened anywhere is compared with what must not be seen, by size first, for there are many files.
SOURCE = """
import json, os, sys
from hashlib import sha256
wanted, keys = json.loads(open("wanted.json").read())
seen, files = [], 0
for folder, folders, names in os.walk("/"):
    if len(seen) > 200: break  # all of them would be no worse
    if folder == "/":
        folders[:] = [name for name in folders if name not in ("proc", "sys", "dev")]
    folders[:] = [name for name in folders if not os.path.islink(os.path.join(folder, name))]
    for name in names:
        path = os.path.join(folder, name)
        try:
            size = os.stat(path).st_size
            files += 1
            if str(size) in wanted:
                text = open(path, "rb").read()
                if sha256(text).hexdigest() in wanted[str(size)]: seen.append(path)
        except OSError: pass
for path in [f"/proc/{name}/environ" for name in os.listdir("/proc") if name.isdigit()]:
    try: text = open(path, "rb").read()
    except OSError: continue
    if any(key.encode() in text for key in keys): seen.append(path)
import colorsys, sqlite3, wave, zoneinfo
print(json.dumps({"seen": seen[:20], "count": len(seen), "files": files, "prefix": sys.prefix}))
"""


def told(done: Any) -> dict[str, Any]:
    if not done.succeeded:
        return {"failed": f"{done.ending}: {done.stderr.decode(errors='replace')[-500:]}"}
    found: dict[str, Any] = json.loads(done.stdout)
    return found


async def in_backend(name: str, wanted: bytes) -> dict[str, Any]:
    try:
        sandbox = backends.create(name, parallel=1)
    except SandboxError as error:
        return {"absent": str(error)}
    try:
        return told(await sandbox.run(Program(SOURCE, files={"wanted.json": wanted}), LIMITS))
    finally:
        await sandbox.close()


async def in_place(name: str, wanted: bytes) -> dict[str, Any]:
    runner = runners.create(name)
    place = await runner.open(WorkspaceLimits(seconds=400))
    try:
        await place.write({"probe.py": SOURCE.encode()})
        await place.write({"wanted.json": wanted}, under="/work")
        return told(await place.execute(["python3", "/app/probe.py"], folder="/work", limits=LIMITS))
    finally:
        await place.close()
        await runner.close()


async def main(file: str) -> None:
    wanted, found = Path(file).read_bytes(), {}
    for kind, names in (
        (in_backend, ("none", "namespaces", "bubblewrap", "nsjail", "firejail")),
        (in_place, ("none", "bubblewrap")),
    ):
        for name in names:
            try:
                found[f"{kind.__name__} {name}"] = await kind(name, wanted)
            except SandboxError as error:
                found[f"{kind.__name__} {name}"] = {"seen": [], "failed": str(error)}
    print(json.dumps(found))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
