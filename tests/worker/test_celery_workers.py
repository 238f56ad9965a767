"""Workers as they are started, with a real PostgreSQL and a real Redis: what they do, and what can happen to them."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from prometheus_client.parser import text_string_to_metric_families

from fakes.faults import Faults
from fakes.provider import FakeProvider
from proctor.stores.database import Database, open_database
from proctor.stores.runs import RunStore
from proctor.worker.celery_app import make_app
from proctor.worker.notifier import EXECUTE, FINISH, PREPARE, SCHEDULED, STEPS
from runs.arithmetic import write_benchmark
from worker.cluster import Cluster, children, signal_process, wait_until

pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]
KEPT = ("model", "benchmark", "trials", "scored", "invalid", "failed", "stopped", "metrics", "categories", "usage")


def numbers(document: dict[str, Any]) -> list[dict[str, Any]]:
    return [{name: item[name] for name in KEPT} for item in document["evaluations"]]


def rows(database: Database, query: str, *values: object) -> list[Any]:
    with database.connection() as connection:
        return connection.execute(query, list(values)).fetchall()


def recorded(database: Database, run_id: str) -> list[str]:
    """The trials with an answer, one entry for each answer."""
    found = rows(
        database,
        "SELECT trial_id FROM responses JOIN evaluations ON evaluations.id = evaluation_id "
        "WHERE run_id = ? AND error IS NULL ORDER BY trial_id",
        run_id,
    )
    return [row[0] for row in found]


def test_what_is_killed_loses_nothing_and_changes_nothing(cluster: Cluster) -> None:
    """The short form of `make chaos`: the same numbers as of a run that nothing happened to."""
    write_benchmark(cluster.folder, 600)
    faults = Faults((), {"500": 0.08, "drop": 0.02}, 2)
    with FakeProvider(faults, latency_seconds=0.1) as provider:
        plan = ("run", "sums.yaml", "-m", f"openai/sums?base_url={provider.url}/v1", "--no-cache", "--json",
                "--concurrency", "24", "--max-tokens", "20", "--assume-price", "1/1", "--max-cost", "5")  # fmt: skip
        code, out, err = cluster.run(*plan, "--here")
        assert code == 0, err
        undisturbed = json.loads(out)
        provider.asked.clear()
        provider.answered.clear()
        first, _ = cluster.start(2, "--beat")
        run = cluster.command(*plan)
        wait_until(lambda: sum(provider.answered.values()) > 100, "the first answers")
        cluster.kill(first)
        wait_until(lambda: sum(provider.answered.values()) > 200, "answers after a group was killed")
        [other] = cluster.groups
        signal_process(children(other.pid)[0], signal.SIGKILL)
        cluster.redis.end()
        cluster.redis.wipe()
        cluster.redis.start()
        wait_until(lambda: sum(provider.answered.values()) > 300, "answers after Redis was wiped")
        postgres_server().end()
        postgres_server().start()
        out, err = run.communicate(timeout=600)
        assert run.returncode == 0, err + cluster.logs()
        disturbed = json.loads(out)
        assert numbers(disturbed) == numbers(undisturbed)
        database = open_database(cluster.database_url)
        try:
            trials = recorded(database, disturbed["run_id"])
            assert trials == recorded(database, undisturbed["run_id"])
            assert len(trials) == len(set(trials)) == 600
            assert RunStore(database).spent_usd(disturbed["run_id"]) < Decimal(5)
            [left] = rows(database, "SELECT count(*) FROM chunks WHERE state IN ('waiting', 'leased')")
            assert left[0] == 0
        finally:
            database.dispose()
        assert provider.most_in_flight <= 24


def test_workers_do_what_they_are_told_and_nothing_else(cluster: Cluster) -> None:
    write_benchmark(cluster.folder, 2_000)
    app = make_app(cluster.redis.url)
    forged: list[tuple[str, Any]] = [
        (EXECUTE, "1; DROP TABLE runs"), (EXECUTE, True), (EXECUTE, 10**30), (EXECUTE, {"id": 1}), (EXECUTE, 10**9),
        (PREPARE, "../../etc/passwd"), (PREPARE, "0000000000nobody"), (FINISH, None), (SCHEDULED, "os.system"),
        ("os.system", f"touch {cluster.folder}/done"), ("celery.chain", "x"),
    ]  # fmt: skip
    with FakeProvider(latency_seconds=0.2) as provider:
        [group] = cluster.start(1, "--beat", "--metrics-port", "0")
        for name, value in forged:
            app.send_task(name, args=(value,), queue=STEPS)
        with app.connection_for_write() as connection:
            connection.SimpleQueue(STEPS, no_ack=True).put(
                {"a": 1}, serializer="pickle", headers={"task": EXECUTE, "id": "1"}
            )
        run = cluster.command("run", "sums.yaml", "-m", f"openai/sums?base_url={provider.url}/v1", "--no-cache")
        wait_until(lambda: sum(provider.answered.values()) > 100, "answers")
        code, out, err = cluster.run("workers", "--json")
        workers = json.loads(out)["workers"]
        assert code == 0, err
        assert [worker["is_alive"] for worker in workers] == [True, True]
        assert {worker["pid"] for worker in workers} <= set(children(group.pid))
        assert any(worker["doing"] and worker["doing"].startswith("chunk") for worker in workers)
        assert cluster.run("cancel", "latest")[0] == 0
        out, err = run.communicate(timeout=120)
        assert run.returncode == 1
        assert "was stopped: the run was cancelled" in err
        asked = len(provider.arrivals)
        assert asked < 2_000
        time.sleep(1)
        assert len(provider.arrivals) == asked
        assert provider.most_in_flight <= 64
        assert not (cluster.folder / "done").exists()
        assert set(metrics_of(cluster)) >= {"default", "proctor_worker_database_seconds_count"}
        cluster.end(group)
        said = [line for line in cluster.logs().splitlines() if line and not line.startswith("worker: Warm")]
        logged = [json.loads(line) for line in said]  # Celery says goodbye on standard output
        assert {line["service"] for line in logged} == {"worker"}
        assert [line for line in logged if line["event"] == "chunk_ended"]
        assert group.returncode == 0
        assert cluster.run("workers")[1].startswith("No worker.")


def metrics_of(cluster: Cluster) -> Iterator[str]:
    """Which pools' chunks, and which series without labels, a worker's own /metrics count in all of its processes."""
    found = re.search(r"Metrics are at (http://\S+/metrics)", cluster.logs())
    assert found is not None
    with urlopen(found[1], timeout=60) as answer:
        families = list(text_string_to_metric_families(answer.read().decode()))
    for one in (one for family in families for one in family.samples):
        if one.name == "proctor_worker_chunk_seconds_count" and one.value > 0:
            yield one.labels["pool"]
        if not one.labels and one.value > 0:
            yield one.name


def postgres_server() -> Any:
    import postgres

    return postgres.server()


def test_workers_use_the_keys_that_the_project_has(cluster: Cluster) -> None:
    """Sealed in the database, opened by whoever executes; nothing of them is in Redis, logs or process lists."""
    key = "sk-marked-key-of-a-project-93ab17"
    cluster.environment["PROCTOR_SECRET"] = "mZ4vR8tQ1xK7wB3nY6cJ9hL2fD5gS0pA"
    with FakeProvider(key=key) as provider:
        address = f"{provider.url}/v1"
        run = ("run", "arithmetic", "-m", f"openai/sums?base_url={address}", "--limit", "4", "--json", "--no-cache")
        setting = cluster.command("provider-keys", "set", "openai", "--base-url", address, stdin=subprocess.PIPE)
        assert "a key for openai" in setting.communicate(f"{key}\n", timeout=60)[0]
        [group] = cluster.start(1, "--beat", concurrency=1)
        code, out, err = cluster.run(*run)
        assert code == 0, err + cluster.logs()
        assert json.loads(out)["evaluations"][0]["scored"] == 4
        assert {request.headers["authorization"] for request in provider.requests} == {f"Bearer {key}"}
        words = b"".join(Path(f"/proc/{pid}/cmdline").read_bytes() for pid in (group.pid, *children(group.pid)))
        sent = b"".join(path.read_bytes() for path in cluster.redis.folder.rglob("*") if path.is_file())
        assert b"prepare" in sent  # every message is in the file that Redis appends to
        assert key not in out + err + cluster.logs()
        assert key.encode() not in words + sent
