"""Load: real connections, weighted requests, and one measurement at a time."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from proctor.domain.place import Reach
from proctor.scorers.programs import load_tools, locust, wrk
from proctor.scorers.programs.load import Measured, send
from proctor.scorers.programs.turns import load_turn

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

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.seen: Counter[tuple[str, str, str]] = Counter()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Counting

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0)).decode()
        self.server.seen[self.path, body, self.headers.get("x-name") or ""] += 1
        self.send_response(500 if self.path == "/bad" else 200)
        self.send_header("content-length", "0")
        self.end_headers()

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


@pytest.mark.parametrize(
    "tool", [pytest.param(wrk, marks=needs_wrk, id="wrk"), pytest.param(locust, marks=needs_locust, id="locust")]
)
def test_load_is_what_the_profile_says(tool: Any, server: Counting) -> None:
    found = asyncio.run(tool.measure(reach(server), LOAD, 2))
    good, posted, bad = (server.seen[key] for key in (("/good", "", ""), ("/echo", BODY, 'va"lue'), ("/bad", "", "")))
    assert set(server.seen) == {("/good", "", ""), ("/echo", BODY, 'va"lue'), ("/bad", "", "")}
    assert good > posted > 0
    assert bad > 0
    assert 0 < found["error_rate"] < 1
    assert found["throughput_rps"] > 0
    assert 0 < found["p50_ms"] <= found["p95_ms"] <= found["p99_ms"]


@needs_wrk
def test_a_service_that_is_not_there_answers_nothing(server: Counting) -> None:
    nobody = reach(server)
    server.server_close()
    found = asyncio.run(wrk.measure(nobody, LOAD, 1))
    assert (found["throughput_rps"], found["error_rate"]) == (0.0, 1.0)


def test_requests_are_sent_in_order_and_counted(server: Counting) -> None:
    requests = [*LOAD["requests"], {"method": "GET", "path": "/good"}]
    assert asyncio.run(send(reach(server), requests)) == {"200": 3, "500": 1}


def test_the_tool_and_its_version_are_known() -> None:
    tool = load_tools.chosen()
    if tool is None:
        pytest.skip("neither wrk nor Locust is on this machine")
    assert (tool.name, bool(tool.version)) in (("wrk", True), ("locust", True))


def test_weights_are_kept_exactly_in_the_script() -> None:
    order = wrk.script(LOAD["requests"]).split("order = {")[1].split("}")[0].split(", ")
    assert Counter(order) == {"1": 3, "2": 1, "3": 1}


def test_percentiles_of_a_histogram() -> None:
    entry = {
        "num_requests": 100,
        "num_failures": 10,
        "response_times": {"1": 50, "5": 45, "9": 5},
    }
    assert locust._read([entry], 2.0) == {
        "throughput_rps": 45.0,
        "error_rate": 0.1,
        "p50_ms": 1.0,
        "p95_ms": 5.0,
        "p99_ms": 9.0,
    }
    assert locust._read([], 1.0) == {"throughput_rps": 0.0, "error_rate": 1.0}


def test_the_median_of_the_rounds_counts_and_the_highest_peak() -> None:
    rounds = [{"work_seconds": number, "peak_memory_mib": number, "once": 1.0} for number in (3.0, 1.0, 2.0)]
    del rounds[0]["once"]
    assert Measured(rounds).figures() == {"work_seconds": 2.0, "peak_memory_mib": 3.0}
    assert Measured().figures() == {}


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
from proctor.scorers.programs.turns import load_turn
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
