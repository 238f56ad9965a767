"""A run as a server gives it: with all its numbers, and how far it is."""

from __future__ import annotations

from msgspec.structs import asdict

from proctor.domain.documents.accepted import ServedRun
from proctor.domain.documents.listing import ShownStatus
from proctor.domain.run import RunStatus
from proctor.runs.chunks.waiting import show_run
from proctor.stores.database import Database
from proctor.stores.runs import RunStore


def served_run(database: Database, reference: str) -> ServedRun:
    """The document of `proctor show --json`, and how far the run is."""
    found = show_run(database, reference)
    trials = sum(item.trials for item in found.evaluations)
    progress = 1.0 if found.status is RunStatus.COMPLETED else found.totals.done / trials if trials else 0.0
    is_lost = found.status is RunStatus.RUNNING and not RunStore(database).is_executing(found.run_id)
    shown = ShownStatus.INTERRUPTED if is_lost else ShownStatus(found.status)
    plan_id = RunStore(database).get(found.run_id).plan_id
    return ServedRun(**asdict(found), progress=round(progress, 6), shown_status=shown, plan_id=plan_id)
