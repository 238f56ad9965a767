"""Scoring again over a server: taken on at once, followed, the same as the command, and lost with no worker."""

from __future__ import annotations

import os
import re
import signal
import time
from pathlib import Path
from typing import Any

import orjson
import pytest

from fakes.dialect import Reply
from fakes.provider import FakeProvider
from proctor.client.client import Client
from proctor.domain.errors import NotFoundError, RunError
from server.serving import Server, serving

V1 = "/api/v1"
PLAN: dict[str, Any] = {"models": ["demo/weak"], "benchmarks": [{"benchmark": "puzzles", "limit": 6}]}
RUBRIC = "judge_rubric:criteria=Is it right?"
CODE = re.compile(r"^VERDICT ([0-9a-f]{16}): VALUE$", re.MULTILINE)


def ended(server: Server, location: str) -> Any:
    until = time.monotonic() + 120
    while (found := server.get(location))["ended_at"] is None:
        assert time.monotonic() < until, found
        time.sleep(0.05)
    return found


def events(body: bytes) -> list[tuple[int, str, Any]]:
    blocks = [dict(line.split(": ", 1) for line in block.split("\n")) for block in body.decode().split("\n\n") if block]
    return [(int(one["id"]), one["event"], orjson.loads(one["data"])) for one in blocks if "event" in one]


def test_a_run_is_scored_again_by_a_worker_and_says_what_the_command_says(server: Server) -> None:
    run = server.run({**PLAN, "seed": 1})
    answer = server.post(f"{V1}/runs/{run}/rescore", {"scorers": ["exact"], "keep": True})
    assert (answer.status, answer.json["status"], answer.json["run_id"]) == (202, "queued", run)
    found = ended(server, answer.headers["location"])
    assert (found["status"], found["progress"], found["done"], found["error"]) == ("completed", 1.0, 6, None)
    code, out, err = server.cli("rescore", run, "--scorer", "exact", "--keep", "--json")
    assert code == 0, err
    printed = orjson.loads(out)
    assert [{**one, "already_scored": 6} for one in found["result"]["evaluations"]] == printed["evaluations"]
    assert found["result"]["in_force"] is False

    heard = events(server.ask("GET", f"{answer.headers['location']}/events").body)
    assert [kind for _, kind, _ in heard if kind != "progress"] == ["accepted", "started", "finished"]
    assert [number for number, _, _ in heard] == sorted(number for number, _, _ in heard)
    rest = events(server.ask("GET", f"{answer.headers['location']}/events", Last_Event_ID=str(heard[0][0])).body)
    assert rest == heard[1:]
    # Who follows the run itself is told of its own events only, and its end stays its end.
    kinds = [kind for _, kind, _ in events(server.ask("GET", f"{V1}/runs/{run}/events").body)]
    assert kinds[-1] == "finished"
    assert kinds.count("accepted") == 1

    use = server.post(f"{V1}/runs/{run}/rescore", {"use": ["exact"]})
    assert ended(server, use.headers["location"])["result"]["in_force"] is True
    assert list(server.get(f"{V1}/runs/{run}")["evaluations"][0]["scorers"]) == ["exact"]
    listed = server.get(f"{V1}/runs/{run}/rescorings")["items"]
    assert [one["rescoring_id"] for one in listed] == [use.json["rescoring_id"], answer.json["rescoring_id"]]


def test_the_same_request_is_the_same_rescoring_and_mistakes_are_told_at_once(server: Server, finished: str) -> None:
    body = {"scorers": ["includes"], "keep": True}
    one, two = (server.post(f"{V1}/runs/{finished}/rescore", body, Idempotency_Key="again") for _ in range(2))
    assert one.json == two.json
    other = server.post(f"{V1}/runs/{finished}/rescore", {**body, "keep": False}, Idempotency_Key="again")
    assert other.status == 422
    ended(server, one.headers["location"])
    for wrong, said in (
        ({"scorers": ["exakt"]}, "Did you mean 'exact'"),
        ({"scorers": ["exact"], "on": "puzles"}, "Did you mean 'puzzles'"),
        ({"use": ["nosuch"]}, "no scores by 'nosuch'"),
        ({"scorers": ["exact"], "use": ["puzzle"]}, "either scorers"),
        ({}, "either scorers"),
        ({"scorers": [RUBRIC]}, "asks a judge, and none is named"),
    ):
        answer = server.post(f"{V1}/runs/{finished}/rescore", wrong)
        assert answer.status in (404, 422), answer.body
        assert said in answer.json["detail"]
    assert len(server.get(f"{V1}/runs/{finished}/rescorings")["items"]) == 1
    assert server.ask("GET", f"{V1}/runs/{finished}/rescorings/r-000").status == 404
    assert server.ask("GET", f"{V1}/runs/{finished}/rescorings/r-000/events").status == 404


def test_the_command_follows_the_server_and_prints_what_it_prints_here(server: Server) -> None:
    run = server.run({**PLAN, "seed": 2})
    on = ("--server", server.address)
    code, _, err = server.cli("rescore", run, "--scorer", "exact:ignore_case=true", "--keep", *on)
    assert (code, err) == (0, "")
    _, out, _ = server.cli("rescore", run, "--scorer", "exact:ignore_case=true", "--keep", *on)
    assert "6 responses had these scores already: not scored again." in out
    _, local, _ = server.cli("rescore", run, "--scorer", "exact:ignore_case=true", "--keep")
    assert out == local
    code, _, err = server.cli("rescore", run, "--use", "nosuch", *on)
    assert (code, err.count("\n")) == (2, 1)
    code, _, err = server.cli("rescore", run, "--scorer", "exact", "--no-cache", *on)
    assert (code, "--no-cache is about judges" in err) == (2, True)
    for amount in ("nan", "inf", "some"):
        code, _, err = server.cli("rescore", run, "--scorer", "exact", "--max-cost", amount, *on)
        assert (code, f"--max-cost is an amount of dollars, not '{amount}'" in err) == (2, True)
    with pytest.raises(ValueError, match="cost_usd is a number"):
        Client(server.address).rescore(run, "exact", cost_usd=float("nan"))


@pytest.fixture
def judge(provider: FakeProvider) -> str:
    """One that takes its time, and asks for nothing again."""
    provider.latency_seconds = 0.4
    provider.reply = lambda ask: Reply(f"VERDICT {CODE.findall(ask.text)[-1]}: 1")
    return f"openai/judge?base_url={provider.url}/v1&max_tokens=500"


def test_one_that_is_cancelled_ends_within_seconds_and_the_old_scores_remain(judge: str, tmp_path: Path) -> None:
    with serving(tmp_path / "home", tmp_path, OPENAI_API_KEY="k") as server:
        client, run = Client(server.address), server.run({**PLAN, "limits": {"concurrency": 1}})
        first = client.rescore(run, RUBRIC, judge=[judge])
        second = client.rescore(run, "exact", keep=True)
        heard = client.follow_rescoring(run, first.rescoring_id)
        assert [next(heard).kind, next(heard).kind] == ["accepted", "started"]
        assert client.rescoring(run, second.rescoring_id).status == "queued", "of one run, one after the other"
        with pytest.raises(RunError, match="being scored again"):
            client.resume(run)
        assert server.ask("DELETE", f"/api/v1/runs/{run}").status == 409
        for command in (("resume", run), ("rescore", run, "--scorer", "exact"), ("delete", run, "--yes")):
            code, _, err = server.cli(*command)
            assert (code, f"Run {run} is being scored again ({first.rescoring_id})" in err) == (1, True), (command, err)
        client.cancel_rescoring(run, first.rescoring_id)
        assert [event.kind for event in heard][-1] == "cancelled"
        with pytest.raises(RunError, match="has already ended"):
            client.cancel_rescoring(run, first.rescoring_id)
        assert client.wait_for_rescoring(run, second.rescoring_id).status == "completed"
        assert list(client.run(run).evaluations[0].scorers) == ["puzzle"]
        with pytest.raises(NotFoundError):
            client.rescoring(run, "r-nothing")


def workers_of(server: Server) -> list[int]:
    """Whichever thread of the server started them."""
    threads = Path(f"/proc/{server.process.pid}/task").glob("*/children")
    found = [int(pid) for children in threads for pid in children.read_text().split()]
    assert found
    return found


def test_a_server_that_ends_and_a_worker_that_is_killed_lose_no_score(
    judge: str, provider: FakeProvider, tmp_path: Path
) -> None:
    with serving(tmp_path / "home", tmp_path, OPENAI_API_KEY="k") as server:
        run = server.run({**PLAN, "limits": {"concurrency": 1}})
        accepted = Client(server.address).rescore(run, RUBRIC, judge=[judge], cost_usd=1, assume_price="1/1")
        until_asked(provider, 2)
    asked = len(provider.requests)
    assert 2 <= asked < 6
    with serving(tmp_path / "home", tmp_path, OPENAI_API_KEY="k") as server:
        client = Client(server.address)
        until_asked(provider, asked + 1)
        for pid in workers_of(server):
            os.kill(pid, signal.SIGKILL)
        found = client.wait_for_rescoring(run, accepted.rescoring_id)
        assert (found.status, found.done, found.error) == ("completed", 6, None)
        assert found.result is not None
        assert found.result.evaluations[0].after["judge_rubric"].scored == 6
        heard = [event.kind for event in client.follow_rescoring(run, accepted.rescoring_id)]
        assert heard.count("started") == 3
        assert len(provider.requests) <= 6 + 2, "what was in flight is asked again, and nothing else"


def until_asked(provider: FakeProvider, count: int) -> None:
    until = time.monotonic() + 60
    while len(provider.requests) < count:
        assert time.monotonic() < until
        time.sleep(0.02)
