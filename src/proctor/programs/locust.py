"""Locust: load where there is no wrk; slower itself, so its figures are compared with its own only."""

from __future__ import annotations

import json
import math
import shutil
from array import array
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from proctor.domain.errors import ScorerError
from proctor.domain.workspace import Reach
from proctor.programs.load_answers import MAX_BODY_BYTES, MAX_BYTES, LoadAnswer, Round, read_answers
from proctor.programs.tools.running import installed, module, run_tool
from proctor.programs.tools.scratch import scratch

_LATENCIES = "latencies"
# Locust's own limit of time begins before there are users; on a busy machine it could end before them, too.
# What an answer is worth is found out afterwards, so every one that came counts as a success here.
# Locust's own statistics round latencies to whole milliseconds, so the latencies are recorded here.
_FILE = """
import gevent, json
from array import array
from locust import FastHttpUser, constant, events
REQUESTS = json.loads({requests!r})
WANTED = json.loads({wanted!r})
ANSWERS = open({answers!r}, "wb")
ROOM = {room}
LATENCIES = array("d")
@events.request.add_listener
def record(response_time, **_):
    LATENCIES.append(response_time)
def keep(place, reply):
    global ROOM
    names = [name for name in WANTED if name in reply.headers]
    head = "".join(f"{{name}}:{{reply.headers[name]}}\\n" for name in names).encode()
    body, status = (reply.content or b"")[:{longest}], reply.status_code
    ROOM -= len(head) + len(body)
    if ROOM < 0:
        status, head, body = 0, b"", b""
    ANSWERS.write(b"%d %d %d %d\\n" % (place, status, len(head), len(body)) + head + body)
def sender(place, one):
    body = one["body"].encode() if one.get("body") is not None else None
    options = dict(data=body, headers=one.get("headers") or {{}}, name="all", allow_redirects=False)
    def send(self):
        with self.client.request(one["method"], one["path"], catch_response=True, **options) as reply:
            if reply.status_code:
                keep(place, reply)
                reply.success()
    return send
class Caller(FastHttpUser):
    wait_time = constant(0)
    tasks = {{sender(place, one): int(one.get("weight", 1)) for place, one in enumerate(REQUESTS, 1)}}
@events.init.add_listener
def begin(environment, **_):
    def measure(**_):
        environment.stats.reset_all()
        del LATENCIES[:]
        gevent.spawn_later({seconds}, environment.runner.quit)
    environment.events.spawning_complete.add_listener(measure)
@events.quitting.add_listener
def end(**_):
    ANSWERS.close()
    with open({latencies!r}, "wb") as file:
        LATENCIES.tofile(file)
"""


def version() -> str | None:
    return installed("locust")


async def measure(reach: Reach, load: Mapping[str, Any], seconds: int) -> Round:
    """One round; ToolError when Locust itself came to an end."""
    with scratch() as folder:
        file = folder / "load.py"
        file.write_text(_source(load["requests"], folder, seconds), encoding="utf-8")
        users = str(max(1, int(load["connections"])))
        words = ("-f", str(file), "--headless", "--only-summary", "--json", "-u", users, "-r", users)
        command = (*reach.prefix, *module("locust", *words, "-H", f"http://{reach.host}:{reach.port}"))
        command = (shutil.which(command[0]) or command[0], *command[1:])
        code, out, err = await run_tool(command, folder, seconds + 60)
        answers = read_answers(folder)
        latencies_ms = _read_latencies(folder / _LATENCIES)
    try:
        return read_round(json.loads(out), seconds, answers, latencies_ms)
    except (ValueError, LookupError, TypeError) as error:
        raise ScorerError(f"Locust ended with {code}: {err.decode('utf-8', 'replace')[-300:]}") from error


def _source(requests: Sequence[Mapping[str, Any]], folder: Path, seconds: int) -> str:
    wanted = {name.lower() for one in requests for name in (one.get("expect") or {}).get("headers") or ()}
    return _FILE.format(
        requests=json.dumps(list(requests)),
        wanted=json.dumps(sorted(wanted)),
        answers=str(folder / "answers-1"),
        latencies=str(folder / _LATENCIES),
        room=MAX_BYTES,
        longest=MAX_BODY_BYTES,
        seconds=seconds,
    )


def _read_latencies(path: Path) -> list[float]:
    """The latency of each request in milliseconds, in order; empty where Locust ended before it wrote them."""
    latencies = array("d")
    if path.exists():
        latencies.frombytes(path.read_bytes())
    return sorted(latencies)


def read_round(
    entries: list[dict[str, Any]], seconds: float, answers: tuple[LoadAnswer, ...], latencies_ms: Sequence[float]
) -> Round:
    """One entry for each method; together they are the round."""
    asked = sum(one["num_requests"] for one in entries)
    lost = sum(one["num_failures"] for one in entries)
    percentiles = {f"p{share}_ms": _percentile(latencies_ms, share) for share in (50, 95, 99)} if latencies_ms else {}
    return Round(asked - lost, lost, seconds, percentiles, answers)


def _percentile(ordered: Sequence[float], share: int) -> float:
    return ordered[max(math.ceil(len(ordered) * share / 100) - 1, 0)]
