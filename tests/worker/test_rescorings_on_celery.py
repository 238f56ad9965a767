"""Scoring again on workers of a broker: followed, lost with no worker, asked for nothing twice, and cancelled."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from fakes.dialect import Reply
from fakes.provider import FakeProvider
from proctor import Client
from proctor.stores.database import open_database
from proctor.stores.workers import WorkerStore
from server.serving import serving
from server.test_rescorings import CODE, RUBRIC
from worker.cluster import Cluster, children, wait_until

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]
SAMPLES = 40
PLAN: dict[str, Any] = {
    "models": ["demo/weak"],
    "benchmarks": [{"benchmark": "puzzles", "limit": SAMPLES}],
    "limits": {"concurrency": 2},
}


def test_a_worker_that_is_killed_loses_no_score_and_a_cancelled_one_ends(cluster: Cluster, tmp_path: Path) -> None:
    shared = {
        name: cluster.environment[name]
        for name in ("PROCTOR_DATABASE_URL", "PROCTOR_BROKER_URL", "PROCTOR_ARTIFACTS_URL", "OPENAI_API_KEY")
    }
    with FakeProvider(latency_seconds=0.5) as provider, serving(tmp_path / "home", tmp_path, **shared) as server:
        provider.reply = lambda ask: Reply(f"VERDICT {CODE.findall(ask.text)[-1]}: 1")
        judge = f"openai/judge?base_url={provider.url}/v1&max_tokens=500"
        cluster.start(2, "--beat", concurrency=1)
        client = Client(server.address)
        run = client.wait(client.submit(PLAN).run_id)
        assert run.status == "completed", cluster.logs()

        accepted = client.rescore(run.run_id, RUBRIC, judge=[judge], cost_usd=1, assume_price="1/1")
        wait_until(lambda: len(provider.requests) >= 3, "the first questions to the judge")
        wait_until(lambda: bool(groups_at_work(cluster)), "a worker says that it does it")
        [group] = groups_at_work(cluster)
        cluster.kill(group)
        asked = len(provider.requests)
        assert asked < SAMPLES
        found = client.wait_for_rescoring(run.run_id, accepted.rescoring_id)
        assert (found.status, found.done, found.error) == ("completed", SAMPLES, None), cluster.logs()
        assert found.result is not None
        assert found.result.evaluations[0].after["judge_rubric"].scored == SAMPLES
        assert len(provider.requests) <= SAMPLES + 2, "what was in flight is asked again, and nothing else"
        heard = [event.kind for event in client.follow_rescoring(run.run_id, accepted.rescoring_id)]
        assert [kind for kind in heard if kind != "progress"] == ["accepted", "started", "started", "finished"]
        assert list(client.run(run.run_id).evaluations[0].scorers) == ["judge_rubric"]

        provider.latency_seconds = 2.0
        before = len(provider.requests)
        other = client.rescore(
            run.run_id, "judge_rubric:criteria=Is it short?", judge=[judge], cost_usd=1, assume_price="1/1"
        )
        events = client.follow_rescoring(run.run_id, other.rescoring_id)
        assert [next(events).kind, next(events).kind] == ["accepted", "started"]
        wait_until(lambda: len(provider.requests) > before, "the judge's next question")
        client.cancel_rescoring(run.run_id, other.rescoring_id)
        assert [event.kind for event in events][-1] == "cancelled"
        assert len(provider.requests) < before + SAMPLES
        assert list(client.run(run.run_id).evaluations[0].scorers) == ["judge_rubric"]


def groups_at_work(cluster: Cluster) -> list[subprocess.Popen[bytes]]:
    """Those of which a process scores again."""
    database = open_database(cluster.database_url)
    pids = {row.pid for row in WorkerStore(database).all() if (row.doing or "").startswith("rescoring")}
    database.dispose()
    return [group for group in cluster.groups if pids & set(children(group.pid))]
