"""A worker that is told to end: it does so soon, in good order, and leaves nothing of itself behind."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

import postgres
from fakes.provider import FakeProvider
from proctor.stores.database import open_database
from proctor.worker.celery_app import make_app
from proctor.worker.notifier import SCHEDULED, STEPS
from proctor.worker.serving import END_SECONDS
from runs.arithmetic import write_benchmark
from worker.cluster import Cluster, children, is_running, signal_process, wait_until

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]
SLOW_SECONDS = 4.0


def test_who_is_told_to_end_sends_nothing_more_and_others_go_on_with_the_rest(cluster: Cluster) -> None:
    write_benchmark(cluster.folder, 40)
    with FakeProvider(latency_seconds=SLOW_SECONDS) as provider:
        [first] = cluster.start(1, "--beat", concurrency=1)
        model = f"openai/sums?base_url={provider.url}/v1"
        run = cluster.command("run", "sums.yaml", "-m", model, "--no-cache", "--json", "--concurrency", "2")
        wait_until(lambda: len(provider.arrivals) >= 2, "the first requests")
        cluster.end(first)  # one chunk of all of them would take another minute and more
        asked = len(provider.arrivals)
        assert asked <= 4, "what was in flight when it was told, and perhaps what followed in that moment"
        assert sum(provider.answered.values()) == asked, "what was in flight is answered"
        provider.latency_seconds = 0.0
        cluster.start(1, "--beat", concurrency=1)
        out, err = run.communicate(timeout=120)
        assert run.returncode == 0, err + cluster.logs()
        assert json.loads(out)["evaluations"][0]["scored"] == 40
        assert len(provider.arrivals) == 40, "and recorded: nothing is asked again"


def test_a_message_that_is_on_its_way_to_a_child_does_not_hold_up_the_end(cluster: Cluster) -> None:
    """The child hears of it only after its parent has let go of it, and then waits for a receipt that never comes."""
    [group] = cluster.start(1, concurrency=1)
    database = open_database(cluster.database_url)
    try:
        with database.connection() as connection:
            wait_until(lambda: len(connection.execute("SELECT pid FROM workers").fetchall()) == 1, "a worker")
            [[child]] = connection.execute("SELECT pid FROM workers").fetchall()
    finally:
        database.dispose()
    signal_process(child, signal.SIGSTOP)
    app = make_app(cluster.redis.url)
    app.send_task(SCHEDULED, args=("sweep",), queue=STEPS)
    with app.connection_for_read() as connected:
        wait_until(lambda: connected.default_channel.client.llen(STEPS) == 0, "the message to be taken")
    time.sleep(1)  # and to be handed to the child, which cannot be seen from outside
    group.send_signal(signal.SIGTERM)
    wait_until(lambda: "Ending" in cluster.logs(), "the worker to hear of it")
    time.sleep(1)
    signal_process(child, signal.SIGCONT)
    cluster.groups.remove(group)
    assert group.wait(20) == 0


def test_a_worker_ends_although_its_database_is_away(cluster: Cluster) -> None:
    [group] = cluster.start(1, concurrency=1)
    server = postgres.server()
    assert server is not None
    server.end()
    try:
        app = make_app(cluster.redis.url)
        app.send_task(SCHEDULED, args=("sweep",), queue=STEPS)
        with app.connection_for_read() as connected:
            wait_until(lambda: connected.default_channel.client.llen(STEPS) == 0, "the message to be taken")
        cluster.end(group)
    finally:
        server.start()


def test_nothing_is_left_of_a_worker_that_ends_while_it_looks_for_its_bucket(cluster: Cluster) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"s3://team-bucket/runs?endpoint=http://127.0.0.1:{silent.getsockname()[1]}"
        keys = {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "PROCTOR_ARTIFACTS_URL": url}
        worker = subprocess.Popen(
            [Path(sys.executable).with_name("proctor"), "worker"],
            cwd=cluster.folder,
            env={**cluster.environment, **keys},
            stderr=subprocess.PIPE,
        )
        with worker:
            wait_until(lambda: children(worker.pid) != [], "the process that asks for it")
            [asking] = children(worker.pid)
            worker.send_signal(signal.SIGTERM)
            worker.wait(30)
        wait_until(lambda: not is_running(asking), "its end", 30)


def test_a_worker_ends_although_its_broker_stands_still(cluster: Cluster) -> None:
    """A frozen Redis takes connections and answers nothing: parent, beat and child are in the middle of asking it."""
    write_benchmark(cluster.folder, 40)
    with FakeProvider(latency_seconds=0.2) as provider:
        [group] = cluster.start(1, "--beat", concurrency=1)
        pids = children(group.pid)
        model = f"openai/sums?base_url={provider.url}/v1"
        run = cluster.command("run", "sums.yaml", "-m", model, "--no-cache", "--json", "--concurrency", "2")
        wait_until(lambda: len(provider.arrivals) >= 4, "requests")
        signal_process(cluster.redis.pid, signal.SIGSTOP)
        try:
            time.sleep(5)  # longer than between two looks for the broker's health: without an end they would go on
            told = time.monotonic()
            cluster.groups.remove(group)
            group.send_signal(signal.SIGTERM)
            assert group.wait(120) == 0, cluster.logs()
            assert time.monotonic() - told < END_SECONDS + 20, "the bound, and what a busy machine takes"
            wait_until(lambda: not any(map(is_running, pids)), "the end of its children")
            asked = len(provider.arrivals)
        finally:
            signal_process(cluster.redis.pid, signal.SIGCONT)
        cluster.start(1, concurrency=1)
        out, err = run.communicate(timeout=120)
        assert run.returncode == 0, err + cluster.logs()
        assert json.loads(out)["evaluations"][0]["scored"] == 40
        assert len(provider.arrivals) <= 42, f"of {asked}, those in flight were recorded or are asked again"
