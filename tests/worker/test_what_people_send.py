"""A server, PostgreSQL, Redis and a worker of Celery: what people send in is worked on, and what goes out is sent."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from fakes.webhook_receiver import Receiver
from proctor import Client
from proctor.benchmarks.problems.finding import BUILT_IN
from server.serving import serving
from server.test_own_benchmarks import write
from server.test_webhooks import until_ended, verify
from worker.cluster import Cluster

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
def test_programs_benchmarks_and_webhooks_on_workers_of_a_broker(cluster: Cluster, tmp_path: Path) -> None:
    receiver = Receiver()
    with receiver.server:
        cluster.environment |= receiver.environment
        shared = {
            name: cluster.environment[name]
            for name in ("PROCTOR_DATABASE_URL", "PROCTOR_BROKER_URL", "PROCTOR_ARTIFACTS_URL")
        }
        with serving(tmp_path / "home", tmp_path, **shared, **receiver.environment) as server:
            cluster.start(1, "--beat")
            client = Client(server.address)
            hook = client.create_webhook(receiver.url)
            program = client.submit_program(
                "interval-set", BUILT_IN / "interval-set" / "solution", name="gold", load=False
            )  # fmt: skip
            client.upload_benchmark(write(tmp_path / "own"))
            accepted = client.submit({"models": ["demo/strong"], "benchmarks": ["towns@1"]})
            run = client.wait(accepted.run_id)
            assert (run.status, run.evaluations[0].trials) == ("completed", 6), cluster.logs()
            told = receiver.wait(1)[0]
            assert verify(hook.secret, told)["data"]["run_id"] == run.run_id
            [delivery] = until_ended(client, hook.webhook_id)
            assert delivery.state == "delivered"
            marked = client.wait_for_submission(program.submission_id)
            assert marked.card is not None, (marked.error, cluster.logs())
            assert marked.card.passed
            assert [one.name for one in client.ranking("interval-set").ranked] == ["gold"]
    assert len(receiver.heard) == 1
