"""What a run waits for that no worker is there to do."""

from __future__ import annotations

import time

from msgspec.structs import asdict

from proctor.domain.documents.run import ShownRun
from proctor.domain.run import RunStatus
from proctor.runs.read import read_run
from proctor.stores.chunks import ChunkStore
from proctor.stores.database import Database
from proctor.stores.queue import QueueStore
from proctor.stores.runs import RunStore
from proctor.stores.workers import WorkerStore

STARTING_SECONDS = 10.0
"""A worker may just be starting."""


def show_run(database: Database, reference: str) -> ShownRun:
    """A run's numbers, and what it waits for."""
    found = read_run(database, reference)
    return ShownRun(**asdict(found), waiting_for=waiting_for(database, found.run_id))


def waiting_for(database: Database, run_id: str) -> str | None:
    """Words for what the run waits for, such as 'a worker of pool sandbox'; None where it need not."""
    queued = QueueStore(database).get(run_id)
    if queued is None or queued.is_finished or queued.stop_reason is not None:
        return None
    run, workers = RunStore(database).get(run_id), WorkerStore(database)
    if run.status not in (RunStatus.QUEUED, RunStatus.RUNNING):
        return None
    if not queued.is_prepared:
        is_old = time.time() - run.created_at.timestamp() > STARTING_SECONDS
        return "a worker" if is_old and not workers.alive() else None
    since = ChunkStore(database).waiting_by_pool(run_id)
    lacking = [pool for pool, seconds in since.items() if seconds > STARTING_SECONDS and not workers.alive(pool)]
    return f"a worker of pool {' and '.join(sorted(lacking))}" if lacking else None
