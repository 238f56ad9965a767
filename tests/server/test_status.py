"""The status in three levels: what was measured, and what is named when something does not answer."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from server.conftest import PLAN
from server.serving import Server, serving

LEVELS = ("services", "application", "business")


def checks(server: Server) -> dict[str, Any]:
    status = server.get("/api/v1/status")
    found = {check["name"]: check for level in LEVELS for check in status[level]["checks"]}
    order = ["ok", "unknown", "warning", "down"]
    for level in LEVELS:
        states = [check["state"] for check in status[level]["checks"]]
        worst = max(states, key=order.index)
        assert status[level]["state"] == ("ok" if worst == "unknown" else worst)
    return found


def test_every_check_says_what_was_measured_and_why(server: Server, finished: str) -> None:
    found = checks(server)
    expected = {"database", "broker", "artifacts", "backups", "workers", "clock", "disk", "logs", "event_streams"}
    expected |= {"active_runs", "success_rate", "queue_default", "queue_default_age", "queue_sandbox", "queue_local"}
    assert expected <= set(found)
    assert all(check["reason"] for check in found.values())
    assert found["database"]["state"] == "ok"
    assert found["database"]["value"] > 0
    run = server.get(f"/api/v1/runs/{finished}")
    assert sum(one["scored"] + one["invalid"] for one in run["evaluations"]) > 0
    assert 0 < found["success_rate"]["value"] <= 1
    assert "of the last hour came to a score" in found["success_rate"]["reason"]
    assert found["workers"]["value"] >= 1
    assert found["queue_default"]["value"] == 0
    assert found["backups"]["state"] == "warning"
    assert "proctor backup" in found["backups"]["reason"]


def test_what_is_not_measured_is_no_number_and_failures_are_seen(tmp_path: Path) -> None:
    with serving(tmp_path / "home", tmp_path) as server:
        first = checks(server)["success_rate"]
        assert (first["state"], first["value"]) == ("unknown", None)
        down = {"models": ["openai/gone?base_url=http://127.0.0.1:9/v1"], "limits": {"retries": 0}}
        server.run({**PLAN, **down, "benchmarks": [{"benchmark": "puzzles", "limit": 2}]})
        found = checks(server)["success_rate"]
        assert (found["state"], found["value"]) == ("warning", 0.0)
        assert server.cli("backup")[0] == 0
        until = time.monotonic() + 60
        while checks(server)["backups"]["state"] != "ok":
            assert time.monotonic() < until
            time.sleep(0.2)
