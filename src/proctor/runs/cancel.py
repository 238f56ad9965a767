"""Stop a run from outside."""

from __future__ import annotations

from proctor.domain.errors import RunError
from proctor.runs.chunks.finish import finish_run
from proctor.stores.database import Database
from proctor.stores.queue import QueueStore
from proctor.stores.runs import RunStore


def cancel_run(database: Database, reference: str) -> str:
    """Ask the run's process to stop and give the run's id; raises RunError when the run has already ended."""
    store = RunStore(database)
    run = store.get(reference)
    if not store.request_cancel(run.id):
        raise RunError(f"Run {run.id} has already ended ({run.status}).")
    queue = QueueStore(database)
    if queue.get(run.id) is not None:
        queue.drop_waiting(run.id)
        finish_run(run.id, database, is_to_be_packed=lambda: False)  # where no worker has a chunk of it
    return run.id
