"""wrk: real load over real connections, from outside the place."""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from proctor.domain.errors import ScorerError
from proctor.domain.place import Reach
from proctor.scorers.programs.tools.running import ToolError, run_tool

_MARK = "proctor:"
_SCRIPT = """
local order = {{{order}}}
local made = {{}}
local at = 0
init = function(args)
{requests}
end
request = function()
  at = at % #order + 1
  return made[order[at]]
end
done = function(summary, latency, requests)
  io.write(string.format(
    '{mark}{{"requests":%d,"us":%d,"connect":%d,"read":%d,"write":%d,"status":%d,"timeout":%d,"p50":%d,"p95":%d,"p99":%d}}\\n',
    summary.requests, summary.duration, summary.errors.connect, summary.errors.read, summary.errors.write,
    summary.errors.status, summary.errors.timeout,
    latency:percentile(50), latency:percentile(95), latency:percentile(99)))
end
"""


@cache
def version() -> str | None:
    """None when it is not on this machine."""
    path = shutil.which("wrk")
    if path is None:
        return None
    done = subprocess.run([path, "--version"], capture_output=True, check=False, timeout=10)  # noqa: S603  the tool
    match = re.search(rb"wrk\s+(\S+)", done.stdout + done.stderr)
    return match[1].decode("ascii", "replace") if match else "unknown"


def lua(text: str) -> str:
    """A text as Lua writes it, byte by byte where needed."""
    letters = (chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\{byte:03d}" for byte in text.encode())
    return f'"{"".join(letters)}"'


def script(requests: Sequence[Mapping[str, Any]]) -> str:
    """Requests in a fixed mixed order, each as often as its weight says."""
    order = [number for number, one in enumerate(requests, 1) for _ in range(int(one.get("weight", 1)))]
    random.Random(0).shuffle(order)
    lines = []
    for number, one in enumerate(requests, 1):
        headers = ", ".join(f"[{lua(key)}] = {lua(value)}" for key, value in (one.get("headers") or {}).items())
        body = lua(one["body"]) if one.get("body") is not None else "nil"
        lines.append(f"  made[{number}] = wrk.format({lua(one['method'])}, {lua(one['path'])}, {{{headers}}}, {body})")
    return _SCRIPT.format(order=", ".join(map(str, order)), requests="\n".join(lines), mark=_MARK)


async def measure(reach: Reach, load: Mapping[str, Any], seconds: int) -> dict[str, float]:
    """Throughput, latencies and errors of one round."""
    path = shutil.which("wrk")
    if path is None:
        raise ScorerError("wrk is not on this machine.")
    with tempfile.TemporaryDirectory(prefix="proctor-wrk-") as name:
        file = Path(name) / "load.lua"
        file.write_text(script(load["requests"]), encoding="ascii")
        connections = max(1, int(load["connections"]))
        words = ("-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "10s", "-s", str(file))
        command = (*reach.prefix, path, *words, f"http://{reach.host}:{reach.port}")
        command = (shutil.which(command[0]) or command[0], *command[1:])
        try:
            code, out, err = await run_tool(command, Path(name), seconds + 30)
        except ToolError as error:
            raise ScorerError(f"wrk did not measure: {error}") from error
    return _read(code, out, err)


def _read(code: int, out: bytes, err: bytes) -> dict[str, float]:
    line = next((line for line in out.decode("utf-8", "replace").splitlines() if line.startswith(_MARK)), None)
    if line is None:
        if b"unable to connect" in out + err:
            return {"throughput_rps": 0.0, "error_rate": 1.0}
        raise ScorerError(f"wrk ended with {code}: {(err or out).decode('utf-8', 'replace')[-300:]}")
    seen = json.loads(line.removeprefix(_MARK))
    bad = seen["connect"] + seen["read"] + seen["write"] + seen["timeout"]
    asked = seen["requests"] + bad
    measured = {
        "throughput_rps": (seen["requests"] - seen["status"]) / (seen["us"] / 1e6) if seen["us"] else 0.0,
        "error_rate": (bad + seen["status"]) / asked if asked else 1.0,
    }
    if seen["requests"]:
        measured |= {f"{name}_ms": seen[name] / 1000 for name in ("p50", "p95", "p99")}
    return measured
