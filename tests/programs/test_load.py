"""Load: real connections, weighted requests, and one measurement at a time."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import math
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast

import pytest

from proctor.benchmarks.problems.schema import NEAREST_GOLD
from proctor.domain.errors import ScorerError
from proctor.domain.workspace import Reach
from proctor.programs import expectations, load_tools, locust, wrk
from proctor.programs.expectations import MAX_WRONG, Judged, filled, judge, mistake
from proctor.programs.load import LoadFigures, durations
from proctor.programs.load_answers import MAX_BODY_BYTES, LoadAnswer, LoadFailedError, Round
from proctor.programs.marks import NOISE
from proctor.programs.options import MarkOptions
from proctor.programs.phases import Phases
from proctor.programs.sending import send
from proctor.programs.service_load import FOLLOWED, ServiceLoad
from proctor.programs.subject import Subject
from proctor.programs.turns import WAIT_SECONDS, load_turn, turn_folder

needs_wrk = pytest.mark.skipif(wrk.version() is None, reason="wrk is not on this machine")
needs_locust = pytest.mark.skipif(locust.version() is None, reason="Locust is not installed")
BODY = 'quote " back \\ line\nand é'
LOAD: dict[str, Any] = {
    "connections": 2,
    "requests": [
        {"method": "GET", "path": "/good", "weight": 3},
        {"method": "POST", "path": "/echo", "body": BODY, "headers": {"X-Name": 'va"lue'}},
        {"method": "GET", "path": "/bad"},
    ],
}


class Counting(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.seen: Counter[tuple[str, str, str]] = Counter()
        self.after = b""
        self.reply: Callable[[BaseHTTPRequestHandler], bytes] = lambda _: b""

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that go away are no news."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Counting

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0)).decode()
        self.server.seen[self.path, body, self.headers.get("x-name") or ""] += 1
        if self.path == "/endless":
            self.send_forever()
            return
        reply = self.server.reply(self)
        self.send_response(500 if self.path == "/bad" else 200)
        self.send_header("content-length", str(len(reply)))
        self.send_header("x-path", self.path)
        self.end_headers()
        self.wfile.write(reply + self.server.after)

    def send_forever(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.close_connection = True
        with contextlib.suppress(OSError):
            while True:
                self.wfile.write(bytes(1 << 20))

    def do_GET(self) -> None:
        self.answer()

    def do_POST(self) -> None:
        self.answer()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Counting]:
    with Counting() as made:
        thread = threading.Thread(target=made.serve_forever)
        thread.start()
        yield made
        made.shutdown()
        thread.join()


def reach(server: Counting) -> Reach:
    return Reach((), "127.0.0.1", server.server_address[1])


each_tool = pytest.mark.parametrize(
    "tool", [pytest.param(wrk, marks=needs_wrk, id="wrk"), pytest.param(locust, marks=needs_locust, id="locust")]
)


def figures_of(done: Round, load: dict[str, Any] = LOAD) -> dict[str, float]:
    return done.figures(judge(load["requests"], done.answers).wrong_share)


@each_tool
def test_load_is_what_the_profile_says(tool: Any, server: Counting) -> None:
    found = figures_of(asyncio.run(tool.measure(reach(server), LOAD, 2)))
    good, posted, bad = (server.seen[key] for key in (("/good", "", ""), ("/echo", BODY, 'va"lue'), ("/bad", "", "")))
    assert set(server.seen) == {("/good", "", ""), ("/echo", BODY, 'va"lue'), ("/bad", "", "")}
    assert good > posted > 0
    assert bad > 0
    assert 0 < found["error_rate"] < 1
    assert found["throughput_rps"] > 0
    assert 0 < found["p50_ms"] <= found["p95_ms"] <= found["p99_ms"]
    assert not float(found["p50_ms"]).is_integer(), "latencies are not rounded to milliseconds"


@needs_wrk
def test_a_service_that_is_not_there_answers_nothing(server: Counting) -> None:
    nobody = reach(server)
    server.server_close()
    found = figures_of(asyncio.run(wrk.measure(nobody, LOAD, 1)))
    assert (found["throughput_rps"], found["error_rate"]) == (0.0, 1.0)


RIGHT: dict[str, Any] = {
    "connections": 4,
    "requests": [
        {
            "method": "GET",
            "path": "/thing",
            "weight": 4,
            "expect": {"status": 200, "headers": {"X-Path": "/thing"}, "members": {"path": "/thing", "n": r"/\d+/"}},
        },
        {
            "method": "POST",
            "path": "/things",
            "body": "x",
            "expect": {"status": 200, "members": {"path": "/things"}, "distinct": "n"},
            "then": {
                "method": "GET",
                "path": "/thing/${n}",
                "expect": {"status": 200, "members": {"path": "/\\/thing\\/\\d+/"}},
            },
        },
    ],
}


def honest() -> Callable[[BaseHTTPRequestHandler], bytes]:
    numbers = itertools.count(1)
    return lambda request: json.dumps({"path": request.path, "n": next(numbers)}).encode()


@each_tool
def test_right_answers_under_load_are_no_errors(tool: Any, server: Counting) -> None:
    server.reply = honest()
    done = asyncio.run(tool.measure(reach(server), RIGHT, 1))
    assert judge(RIGHT["requests"], done.answers).example == ""
    assert len(done.answers) >= done.answered > 0
    assert {answer.place for answer in done.answers} <= {1, 2}
    assert done.figures(0.0)["error_rate"] == 0


@each_tool
def test_a_service_that_knows_the_load_by_its_headers_gains_nothing(tool: Any, server: Counting) -> None:
    right = honest()
    server.reply = lambda request: right(request) if request.headers.get("x-checker") else b""
    done = asyncio.run(tool.measure(reach(server), RIGHT, 1))
    judged = judge(RIGHT["requests"], done.answers)
    assert judged.wrong_share == 1
    assert judged.failure.startswith("100.0 % of the answers under load were wrong, such as: ")
    assert done.figures(judged.wrong_share)["throughput_rps"] == 0


@each_tool
def test_one_wrong_answer_in_ten_is_found_wherever_it_is(tool: Any, server: Counting) -> None:
    right, turn = honest(), itertools.count()
    server.reply = lambda request: b"{}" if next(turn) % 10 == 0 else right(request)
    done = asyncio.run(tool.measure(reach(server), RIGHT, 1))
    wrong = judge(RIGHT["requests"], done.answers).wrong_share * len(done.answers)
    # Each connection may have been cut off with an answer under way.
    assert 0 < wrong == pytest.approx(len(done.answers) / 10, abs=RIGHT["connections"] + 1)


@each_tool
def test_as_many_connections_as_a_problem_may_ask_for_fit_into_the_limits(tool: Any, server: Counting) -> None:
    server.reply = honest()
    done = asyncio.run(tool.measure(reach(server), {**RIGHT, "connections": 64}, 1))
    assert judge(RIGHT["requests"], done.answers).example == ""
    assert done.answered > 0


@needs_wrk
def test_answers_nobody_asked_for_are_wrong(server: Counting) -> None:
    """Ten answers to each request would be ten times the throughput."""
    extra = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"
    plain: dict[str, Any] = {"connections": 2, "requests": [{"method": "GET", "path": "/good"}]}
    server.after = extra * 9
    done = asyncio.run(wrk.measure(reach(server), plain, 1))
    judged = judge(plain["requests"], done.answers)
    assert judged.wrong_share > 0.8
    assert judged.example == "an answer to no request"


def test_what_was_confirmed_under_load_is_asked_for_afterwards(server: Counting) -> None:
    if load_tools.chosen() is None:
        pytest.skip("neither wrk nor Locust is on this machine")
    server.reply = honest()

    async def run() -> None:
        load = ServiceLoad(RIGHT, reach(server))
        await load.prepare()
        await load.round(1)
        await load.follow()
        server.reply = lambda _: b'{"path": "gone"}'
        with pytest.raises(LoadFailedError, match=r"GET /thing/\d+, before or after the load: another path"):
            await load.follow()

    asyncio.run(run())


def test_a_request_may_be_made_with_what_the_setup_answered(server: Counting) -> None:
    server.reply = lambda request: b'{"token": "t-1"}' if request.path == "/login" else b""
    load = {
        "setup": [{"method": "POST", "path": "/login", "weight": 3}],
        "requests": [{"method": "GET", "path": "/me", "headers": {"Authorization": "Bearer ${token}"}}],
    }

    async def run() -> ServiceLoad:
        made = ServiceLoad(load, reach(server))
        await made.prepare()
        return made

    made = asyncio.run(run())
    assert made.requests[0]["headers"] == {"Authorization": "Bearer t-1"}
    assert made.statuses == {"200": 3}
    server.reply = lambda _: b"{}"
    with pytest.raises(LoadFailedError, match=r"\$\{token\} of GET /me was not answered before"):
        asyncio.run(run())
    load["setup"] = [{"method": "GET", "path": "/bad"}]
    with pytest.raises(LoadFailedError, match="GET /bad, before or after the load: status 500"):
        asyncio.run(run())


@pytest.mark.parametrize("value", ["a\r\nX-Evil: 1", "", "a b", "x" * 1001, "é"])
def test_what_a_service_answers_does_not_write_headers(value: str) -> None:
    request = {"method": "GET", "path": "/", "headers": {"a": "${v}"}}
    assert filled(request, {"v": 17})["headers"] == {"a": "17"}
    with pytest.raises(LoadFailedError):
        filled(request, {"v": value})


@pytest.mark.parametrize(
    ("expect", "answer", "words"),
    [
        (None, LoadAnswer(1, 204, {}, b""), ""),
        (None, LoadAnswer(1, 0, {}, b""), "status 0"),
        (None, LoadAnswer(1, 404, {}, b""), "status 404"),
        ({"status": 404}, LoadAnswer(1, 404, {}, b""), ""),
        ({"status": 200, "headers": {"Location": "/x"}}, LoadAnswer(1, 200, {"location": "/x"}, b""), ""),
        ({"status": 200, "headers": {"Location": "/x"}}, LoadAnswer(1, 200, {}, b""), "header Location is None"),
        ({"status": 200, "body": "(a\n){2}"}, LoadAnswer(1, 200, {}, b"a\na\n"), ""),
        ({"status": 200, "body": "(a\n){2}"}, LoadAnswer(1, 200, {}, b"a\n"), "another body"),
        ({"status": 200, "members": {"n": 1}}, LoadAnswer(1, 200, {}, b'{"n": 1, "m": 2}'), ""),
        ({"status": 200, "members": {"n": 1}}, LoadAnswer(1, 200, {}, b'{"n": true}'), "another n"),
        ({"status": 200, "members": {"n": None}}, LoadAnswer(1, 200, {}, b"{}"), "another n"),
        ({"status": 200, "members": {"n": "/[0-9]+/"}}, LoadAnswer(1, 200, {}, b'{"n": 12}'), ""),
        ({"status": 200, "members": {"n": 1}}, LoadAnswer(1, 200, {}, b"[" * 60_000), "another n"),
        ({"status": 200}, LoadAnswer(1, 200, {}, bytes(MAX_BODY_BYTES)), "longer than"),
    ],
)
def test_an_answer_is_right_or_it_is_said_why_not(
    expect: dict[str, Any] | None, answer: LoadAnswer, words: str
) -> None:
    found = mistake(expect, answer)
    assert words in found
    assert bool(found) == bool(words)


@pytest.mark.parametrize(
    "expect", [{"status": 200, "body": "(?:a|a)*[bc]"}, {"status": 200, "members": {"x": "/(?:a|a)*[bc]/"}}]
)
def test_an_answer_that_no_pattern_comes_to_an_end_with_is_wrong(
    expect: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python's own matcher would need longer than the universe, and let nothing else compute."""
    monkeypatch.setattr(expectations, "MATCH_SECONDS", 0.2)
    many = b"a" * 60
    answer = LoadAnswer(1, 200, {}, many if "body" in expect else b'{"x": "%s"}' % many)
    with pytest.raises(LoadFailedError, match=r"could not be held against '.*' in 0.2 s"):
        mistake(expect, answer)


def test_a_share_of_wrong_answers_is_not_rounded_to_what_is_allowed() -> None:
    assert Judged(0.01004, "x").failure.startswith("1.004 % of the answers")
    assert Judged(0.01).failure == ""


def test_the_same_id_twice_is_wrong() -> None:
    request = {"method": "POST", "path": "/", "expect": {"status": 201, "distinct": "id"}}
    answers = [LoadAnswer(1, 201, {}, body) for body in (b'{"id": 1}', b'{"id": 2}', b'{"id": 1}', b'{"id": "1"}')]
    assert judge([request], answers).wrong_share == 0.25


def test_requests_are_sent_in_order_and_answered(server: Counting) -> None:
    requests = [*LOAD["requests"], {"method": "GET", "path": "/good"}]
    found = asyncio.run(send(reach(server), requests))
    assert [answer.status for answer in found] == [200, 200, 500, 200]
    assert found[2].headers["x-path"] == "/bad"


def test_an_answer_without_end_is_cut_off(server: Counting) -> None:
    endless, good = asyncio.run(
        send(reach(server), [{"method": "GET", "path": path} for path in ("/endless", "/good")])
    )
    assert len(endless.body) == MAX_BODY_BYTES
    assert "longer than" in mistake(None, endless)
    assert good.status == 200


def slowly(_: BaseHTTPRequestHandler) -> bytes:
    time.sleep(3)
    return b""


def test_a_sender_that_does_not_come_to_its_end_is_a_failure(server: Counting) -> None:
    server.reply = slowly
    with pytest.raises(LoadFailedError, match=r"it took longer than 0\.5 s"):
        asyncio.run(send(reach(server), [{"method": "GET", "path": "/slow"}], 0.5))


@pytest.mark.parametrize(("seconds", "rounds"), [(3, 3), (2, 3), (2, 1), (10, 3), (0.5, 3), (7.2, 4)])
def test_all_rounds_together_last_as_long_as_the_profile_says(seconds: float, rounds: int) -> None:
    found = durations(seconds, rounds)
    assert sum(found) == max(1, math.ceil(seconds))
    assert len(found) <= rounds
    assert max(found) - min(found) <= 1


def test_the_tool_and_its_version_are_known() -> None:
    tool = load_tools.chosen()
    if tool is None:
        pytest.skip("neither wrk nor Locust is on this machine")
    assert (tool.name, bool(tool.version)) in (("wrk", True), ("locust", True))


def test_weights_are_kept_exactly_in_the_script() -> None:
    order = wrk.script(LOAD["requests"], 2, Path("/x")).split("order = {")[1].split("}")[0].split(", ")
    assert Counter(order) == {"1": 3, "2": 1, "3": 1}


def test_percentiles_of_latencies() -> None:
    entry = {"num_requests": 100, "num_failures": 10}
    latencies = [*[0.25] * 50, *[5.5] * 45, *[9.0] * 5]
    assert locust.read_round([entry], 2.0, (), latencies).figures(0.0) == {
        "throughput_rps": 45.0,
        "error_rate": pytest.approx(0.1),
        "p50_ms": 0.25,
        "p95_ms": 5.5,
        "p99_ms": 9.0,
    }
    assert locust.read_round([], 1.0, (), []).figures(0.0) == {"throughput_rps": 0.0, "error_rate": 1.0}


def test_waiting_for_the_turn_is_no_part_of_a_phase(tmp_path: Path) -> None:
    phases = Phases(None)

    async def holding(has_it: asyncio.Event) -> None:
        async with load_turn(tmp_path):
            has_it.set()
            await asyncio.sleep(0.3)

    async def both() -> float:
        has_it = asyncio.Event()
        holder = asyncio.create_task(holding(has_it))
        await has_it.wait()
        began = time.monotonic()
        with phases.phase("load") as note:
            async with load_turn(tmp_path) as waited:
                note.wait(waited)
        whole = time.monotonic() - began
        await holder
        return whole

    whole = asyncio.run(both())
    (phase,) = phases.done
    waited = phase.evidence["waited_seconds"]
    assert isinstance(waited, float)
    assert waited > 0
    assert phase.seconds + waited <= whole + 0.002, "both are rounded"


def test_one_measures_at_a_time_in_this_process(tmp_path: Path) -> None:
    inside, most = 0, 0

    async def one() -> None:
        nonlocal inside, most
        async with load_turn(tmp_path):
            inside += 1
            most = max(most, inside)
            await asyncio.sleep(0.02)
            inside -= 1

    async def several() -> None:
        await asyncio.gather(*(one() for _ in range(4)))

    asyncio.run(several())
    assert most == 1


HOLDING = """
import asyncio, sys
from pathlib import Path
from proctor.programs.subject import Subject
from proctor.programs.turns import load_turn
async def hold():
    async with load_turn(Path(sys.argv[1])):
        print("held", flush=True)
        sys.stdin.read()
asyncio.run(hold())
"""


def test_one_measures_at_a_time_on_this_machine_and_the_dead_hold_nothing(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDING, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"

        async def wait(seconds: float) -> None:
            async with asyncio.timeout(seconds), load_turn(tmp_path):
                pass

        with pytest.raises(TimeoutError):
            asyncio.run(wait(0.3))
        other.kill()
        asyncio.run(wait(30))


def test_waiting_for_a_turn_comes_to_an_end(tmp_path: Path) -> None:
    async def wait() -> None:
        async with load_turn(tmp_path):
            with pytest.raises(ScorerError, match=r"had the load turn for 0.2 s. See who has .*load.lock open"):
                async with load_turn(tmp_path, wait_seconds=0.2):
                    pass

    asyncio.run(wait())


def test_the_lock_is_in_a_folder_of_this_user_alone(tmp_path: Path) -> None:
    folder = turn_folder(tmp_path)
    assert (folder.name, folder.stat().st_mode & 0o777) == (f"proctor-{os.getuid()}", 0o700)
    assert turn_folder(tmp_path) == folder
    folder.chmod(0o777)
    with pytest.raises(ScorerError, match="nobody else can use"):
        turn_folder(tmp_path)
    folder.rmdir()
    folder.symlink_to(tmp_path)
    with pytest.raises(ScorerError, match="nobody else can use"):
        turn_folder(tmp_path)


def test_the_pages_say_what_the_numbers_are() -> None:
    pages = Path(__file__).parents[2] / "docs" / "reference"
    problems, runners = ((pages / name).read_text(encoding="utf-8") for name in ("problems.md", "runners.md"))
    assert f"1 up to {NOISE:g} times worse than gold" in problems
    assert f"The bound is at least `{NEAREST_GOLD:g} gold`" in problems
    assert f"twice as slow as gold gets {1 / (3 - NOISE):.2f}" in problems
    assert f"if more than {MAX_WRONG * 100:g} % of a round's are wrong" in problems
    assert f"Bodies of {MAX_BODY_BYTES >> 10} KiB and more" in problems
    assert FOLLOWED == 5
    assert "for five answers of the last round" in problems
    assert WAIT_SECONDS == 3600
    assert "within\nan hour fails" in runners
    assert f"{MarkOptions().place_seconds:.0f} seconds" in runners


class _Idle:
    """A subject whose service is told to stand still, and how much it has used by the clock."""

    def __init__(self, *spent: float | None, is_freezing: bool) -> None:
        self._spent = iter(spent)
        self._is_freezing = is_freezing
        self.hosted = self
        self.workspace = self
        self.told: list[str] = []

    async def freeze(self) -> bool:
        self.told.append("freeze")
        return self._is_freezing

    async def thaw(self) -> None:
        self.told.append("thaw")

    async def pause(self) -> None:
        self.told.append("pause")

    async def resume(self) -> None:
        self.told.append("resume")

    async def cpu_seconds(self) -> float | None:
        return next(self._spent)


@pytest.mark.parametrize(("is_freezing", "told"), [(True, ["freeze", "thaw"]), (False, ["freeze", "pause", "resume"])])
@pytest.mark.parametrize(
    ("spent", "failure"),
    [
        ((1.0, 1.05), ""),
        ((None, None), ""),
        ((1.0, 2.5), "it used 1.5 s of processor time while it was to stand still"),
    ],
)
def test_a_service_that_works_while_the_other_is_measured_is_found_out(
    spent: tuple[float | None, float | None], failure: str, is_freezing: bool, told: list[str]
) -> None:
    subject = _Idle(*spent, is_freezing=is_freezing)
    measured = LoadFigures(cast("Subject", subject))
    measured._load = cast("ServiceLoad", object())

    async def stand_still() -> None:
        await measured.pause()
        await measured.resume()

    asyncio.run(stand_still())
    assert subject.told == told
    assert measured.failure == failure
