"""Locust: load where there is no wrk; slower itself, so its figures are compared with its own only."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from proctor.domain.errors import ScorerError
from proctor.domain.place import Reach
from proctor.scorers.programs.tools.running import ToolError, installed, module, run_tool

# Locust's own limit of time begins before there are users; on a busy machine it could end before them, too.
_FILE = """
import gevent, json
from locust import FastHttpUser, constant, events
REQUESTS = json.loads({requests!r})
def sender(one):
    body = one["body"].encode() if one.get("body") is not None else None
    def send(self):
        self.client.request(one["method"], one["path"], data=body, headers=one.get("headers") or {{}}, name="all")
    return send
class Caller(FastHttpUser):
    wait_time = constant(0)
    tasks = {{sender(one): int(one.get("weight", 1)) for one in REQUESTS}}
@events.init.add_listener
def begin(environment, **_):
    def measure(**_):
        environment.stats.reset_all()
        gevent.spawn_later({seconds}, environment.runner.quit)
    environment.events.spawning_complete.add_listener(measure)
"""


def version() -> str | None:
    return installed("locust")


async def measure(reach: Reach, load: Mapping[str, Any], seconds: int) -> dict[str, float]:
    """Throughput, latencies and errors of one round."""
    with tempfile.TemporaryDirectory(prefix="proctor-locust-") as name:
        file = Path(name) / "load.py"
        source = _FILE.format(requests=json.dumps(list(load["requests"])), seconds=seconds)
        file.write_text(source, encoding="utf-8")
        users = str(max(1, int(load["connections"])))
        words = ("-f", str(file), "--headless", "--only-summary", "--json", "-u", users, "-r", users)
        command = (*reach.prefix, *module("locust", *words, "-H", f"http://{reach.host}:{reach.port}"))
        command = (shutil.which(command[0]) or command[0], *command[1:])
        try:
            code, out, err = await run_tool(command, Path(name), seconds + 60)
        except ToolError as error:
            raise ScorerError(f"Locust did not measure: {error}") from error
    try:
        return _read(json.loads(out), seconds)
    except (ValueError, LookupError, TypeError) as error:
        raise ScorerError(f"Locust ended with {code}: {err.decode('utf-8', 'replace')[-300:]}") from error


def _read(entries: list[dict[str, Any]], seconds: float) -> dict[str, float]:
    """One entry for each method; together they are the round."""
    asked = sum(one["num_requests"] for one in entries)
    if not asked:
        return {"throughput_rps": 0.0, "error_rate": 1.0}
    failed = sum(one["num_failures"] for one in entries)
    times = sorted((float(key), int(count)) for one in entries for key, count in one["response_times"].items())
    return {
        "throughput_rps": (asked - failed) / seconds,
        "error_rate": failed / asked,
        **{f"p{share}_ms": _percentile(times, share) for share in (50, 95, 99)},
    }


def _percentile(times: list[tuple[float, int]], share: int) -> float:
    wanted = sum(count for _, count in times) * share / 100
    so_far = 0
    for value, count in times:
        so_far += count
        if so_far >= wanted:
            return value
    return times[-1][0] if times else 0.0
