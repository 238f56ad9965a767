"""Events of a run as a stream: in order, resumable, and ending when the run does."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import orjson

from server.conftest import PLAN
from server.serving import Server

ENDS = {"finished", "failed", "cancelled"}


def events(text: str) -> list[tuple[int, str, Any]]:
    found = []
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if "event" in fields:
            found.append((int(fields["id"]), fields["event"], orjson.loads(fields["data"])))
    return found


def test_a_stream_ends_after_the_last_event_and_goes_on_where_it_broke_off(server: Server) -> None:
    slow = {
        **PLAN,
        "name": "slow",
        "models": ["demo/strong?delay_ms=300"],
        "limits": {"concurrency": 2},
        "cache": False,
    }
    run_id = server.post("/api/v1/runs", slow).json["run_id"]
    path = f"/api/v1/runs/{run_id}/events"
    answer = server.ask("GET", path)
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.headers["x-accel-buffering"] == "no"
    found = events(answer.body.decode())
    numbers = [number for number, _, _ in found]
    assert numbers == sorted(set(numbers))
    assert "progress" in {kind for _, kind, _ in found}
    assert [kind for _, kind, _ in found if kind in ENDS] == ["finished"]
    assert found[-1][1] == "finished"
    for number in (numbers[0], numbers[-1]):
        again = events(server.ask("GET", path, Last_Event_ID=str(number)).body.decode())
        assert again == [event for event in found if event[0] > number]


def test_a_cancelled_run_says_so_to_whoever_follows(server: Server) -> None:
    slow = {**PLAN, "name": "endless", "models": ["demo/strong?delay_ms=1500"], "cache": False}
    run_id = server.post("/api/v1/runs", slow).json["run_id"]
    server.wait(run_id, "running")
    connection, answer = server.open("GET", f"/api/v1/runs/{run_id}/events")
    with closing(connection):
        assert server.post(f"/api/v1/runs/{run_id}/cancel").json == {"run_id": run_id, "is_stopping": True}
        assert events(answer.read().decode())[-1][1] == "cancelled"


def test_a_wrong_place_in_the_stream_is_a_mistake(server: Server, finished: str) -> None:
    for given in ("-1", "x", "1e3", "9" * 39, "٣"):
        answer = server.ask("GET", f"/api/v1/runs/{finished}/events", Last_Event_ID=given.encode().decode("latin-1"))
        assert answer.status == 422
    assert server.ask("GET", "/api/v1/runs/zzzzzzzzzzzz/events").status == 404
