"""wrk: real load over real connections, from outside the place."""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from proctor.domain.errors import ScorerError
from proctor.domain.workspace import Reach
from proctor.programs.load_answers import MAX_BODY_BYTES, MAX_BYTES, LoadAnswer, Round, read_answers
from proctor.programs.tools.running import run_tool
from proctor.programs.tools.scratch import scratch

_MARK = "proctor:"
# One connection for each thread: within it, an answer belongs to the request before it. Every answer is kept, for a
# program could answer whatever it likes to requests that nobody reads; one that nobody asked for is kept as such.
_SCRIPT = """
local order = {{{order}}}
local wanted = {{{wanted}}}
local made = {{}}
local at, asked, room = 0, 0, {room}
local answers
local threads = 0
setup = function(thread)
  threads = threads + 1
  thread:set("number", threads)
end
init = function(args)
  answers = assert(io.open({folder} .. "/answers-" .. number, "wb"))
{requests}
end
request = function()
  at = at % #order + 1
  asked = order[at]
  return made[asked]
end
response = function(status, headers, body)
  local head = ""
  for name, value in pairs(headers) do
    if wanted[name:lower()] then head = head .. name:lower() .. ":" .. value .. "\\n" end
  end
  body = body:sub(1, {longest})
  room = room - #head - #body
  if room < 0 then status, head, body = 0, "", "" end
  answers:write(string.format("%d %d %d %d\\n", asked, status, #head, #body), head, body)
  asked = 0
end
done = function(summary, latency, requests)
  io.write(string.format(
    '{mark}{{"requests":%d,"us":%d,"connect":%d,"read":%d,"write":%d,"timeout":%d,"p50":%d,"p95":%d,"p99":%d}}\\n',
    summary.requests, summary.duration, summary.errors.connect, summary.errors.read, summary.errors.write,
    summary.errors.timeout,
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


def script(requests: Sequence[Mapping[str, Any]], connections: int, folder: Path) -> str:
    """Requests in a fixed mixed order, each as often as its weight says; answers are written into the folder."""
    order = [number for number, one in enumerate(requests, 1) for _ in range(int(one.get("weight", 1)))]
    random.Random(0).shuffle(order)
    lines = []
    for number, one in enumerate(requests, 1):
        headers = ", ".join(f"[{lua(key)}] = {lua(value)}" for key, value in (one.get("headers") or {}).items())
        body = lua(one["body"]) if one.get("body") is not None else "nil"
        lines.append(f"  made[{number}] = wrk.format({lua(one['method'])}, {lua(one['path'])}, {{{headers}}}, {body})")
    wanted = {name.lower() for one in requests for name in (one.get("expect") or {}).get("headers") or ()}
    return _SCRIPT.format(
        order=", ".join(map(str, order)),
        wanted=", ".join(f"[{lua(name)}] = true" for name in sorted(wanted)),
        requests="\n".join(lines),
        folder=lua(str(folder)),
        room=MAX_BYTES // connections,
        longest=MAX_BODY_BYTES,
        mark=_MARK,
    )


async def measure(reach: Reach, load: Mapping[str, Any], seconds: int) -> Round:
    """One round; ToolError when wrk itself came to an end."""
    path = shutil.which("wrk")
    if path is None:
        raise ScorerError("wrk is not on this machine.")
    with scratch() as folder:
        file = folder / "load.lua"
        connections = max(1, int(load["connections"]))
        file.write_text(script(load["requests"], connections, folder), encoding="ascii")
        words = (f"-t{connections}", f"-c{connections}", f"-d{seconds}s", "--timeout", "10s", "-s", str(file))
        command = (*reach.prefix, path, *words, f"http://{reach.host}:{reach.port}")
        command = (shutil.which(command[0]) or command[0], *command[1:])
        code, out, err = await run_tool(command, folder, seconds + 30)
        return _read(code, out, err, read_answers(folder))


def _read(code: int, out: bytes, err: bytes, answers: tuple[LoadAnswer, ...]) -> Round:
    line = next((line for line in out.decode("utf-8", "replace").splitlines() if line.startswith(_MARK)), None)
    if line is None:
        if b"unable to connect" in out + err:
            return Round(0, 1, 0.0, {}, ())
        raise ScorerError(f"wrk ended with {code}: {(err or out).decode('utf-8', 'replace')[-300:]}")
    seen = json.loads(line.removeprefix(_MARK))
    lost = seen["connect"] + seen["read"] + seen["write"] + seen["timeout"]
    latencies = {f"{name}_ms": seen[name] / 1000 for name in ("p50", "p95", "p99")} if seen["requests"] else {}
    return Round(seen["requests"], lost, seen["us"] / 1e6, latencies, answers)
