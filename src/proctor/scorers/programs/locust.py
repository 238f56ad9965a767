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

_FILE = """
import json
from locust import FastHttpUser, task
REQUESTS = json.loads({requests!r})
def sender(one):
    def send(self):
        more = {{"data": one.get("body"), "headers": one.get("headers") or {{}}, "name": "all"}}
        self.client.request(one["method"], one["path"], **more)
    return send
class Caller(FastHttpUser):
    tasks = {{sender(one): int(one.get("weight", 1)) for one in REQUESTS}}
"""


def version() -> str | None:
    return installed("locust")


async def measure(reach: Reach, load: Mapping[str, Any], seconds: int) -> dict[str, float]:
    """Throughput, latencies and errors of one round."""
    with tempfile.TemporaryDirectory(prefix="proctor-locust-") as name:
        file = Path(name) / "load.py"
        file.write_text(_FILE.format(requests=json.dumps(list(load["requests"]))), encoding="utf-8")
        users = str(max(1, int(load["connections"])))
        words = (
            "-f",
            str(file),
            "--headless",
            "--only-summary",
            "--json",
            "-u",
            users,
            "-r",
            users,
            "-t",
            f"{seconds}s",
        )
        command = (*reach.prefix, *module("locust", *words, "-H", f"http://{reach.host}:{reach.port}"))
        command = (shutil.which(command[0]) or command[0], *command[1:])
        try:
            code, out, err = await run_tool(command, Path(name), seconds + 60)
        except ToolError as error:
            raise ScorerError(f"Locust did not measure: {error}") from error
    try:
        return _read(json.loads(out))
    except (ValueError, LookupError, TypeError) as error:
        raise ScorerError(f"Locust ended with {code}: {err.decode('utf-8', 'replace')[-300:]}") from error


def _read(entries: list[dict[str, Any]]) -> dict[str, float]:
    if not entries:
        return {"throughput_rps": 0.0, "error_rate": 1.0}
    (seen,) = entries
    times = sorted((float(key), int(count)) for key, count in seen["response_times"].items())
    good = seen["num_requests"] - seen["num_failures"]
    lasted = max(seen["last_request_timestamp"] - seen["start_time"], 1e-3)
    return {
        "throughput_rps": good / lasted,
        "error_rate": seen["num_failures"] / seen["num_requests"],
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
