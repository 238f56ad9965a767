"""Remove runs that ended long ago with all that is theirs alone, empty months, and artifacts without owner."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from proctor.domain.artifacts import Artifacts
from proctor.domain.documents.retention import ExpiredRunFigures, RetentionFigures
from proctor.domain.errors import NotFoundError, RunError
from proctor.runs.deleting import delete_run
from proctor.stores.database import Database
from proctor.stores.deleting import referring_runs
from proctor.stores.moments import month_of
from proctor.stores.retention import ExpiredRun, drop_empty_month, droppable_months, expired_runs, orphans
from proctor.stores.runs import RunStore

ORPHAN_DAYS = 1
"""An artifact is kept before the row that refers to it: a younger one may still get its owner."""


def apply_retention(
    database: Database, artifacts: Artifacts, days: float | None, *, is_dry_run: bool
) -> RetentionFigures:
    """Remove what expired, or only say what would go; runs that others replay or are compared with stay."""
    now, notes = datetime.now(UTC), list[str]()
    expired = [] if days is None else expired_runs(database, now - timedelta(days=days))
    going = _without_referred(database, expired, notes)
    removed = list[ExpiredRun]()
    count = size = 0
    for run in going:
        if is_dry_run:
            removed.append(run)
            continue
        try:
            done = delete_run(database, artifacts, run.id)
        except NotFoundError:  # somebody else has just deleted it
            continue
        except RunError as error:  # it was resumed meanwhile, or its artifacts may be in use
            notes.append(str(error))
            continue
        removed.append(run)
        count, size = count + done.artifacts, size + done.artifact_bytes
    months = droppable_months(database, {run.id for run in removed}, month_of(now))
    if not is_dry_run:
        months = [month for month in months if drop_empty_month(database, month)]
    more, more_bytes = _collect(database, artifacts, now, notes, is_dry_run=is_dry_run)
    return RetentionFigures(
        is_dry_run=is_dry_run,
        days=days,
        runs=[ExpiredRunFigures(run.id, run.name, run.status, run.finished_at, run.responses) for run in removed],
        months=months,
        artifacts=count + more,
        artifact_bytes=size + more_bytes,
        notes=notes,
    )


def _without_referred(database: Database, expired: list[ExpiredRun], notes: list[str]) -> list[ExpiredRun]:
    """Those that no run that stays names in its plan."""
    ids = {run.id for run in expired}
    going = list[ExpiredRun]()
    for run in expired:
        if users := [user for user in referring_runs(database, run.id) if user not in ids]:
            notes.append(f"{run.id} stays: {', '.join(users)} cannot be resumed without it")
        else:
            going.append(run)
    return going


def _collect(
    database: Database, artifacts: Artifacts, now: datetime, notes: list[str], *, is_dry_run: bool
) -> tuple[int, int]:
    """Artifacts that nothing refers to: how many, and their bytes."""
    if executing := RunStore(database).executing():
        notes.append(f"artifacts without owner were not looked for: {', '.join(executing)} may be about to use them")
        return 0, 0
    before, sizes = now - timedelta(days=ORPHAN_DAYS), list[int]()
    for key in orphans(database, list(artifacts.keys())):
        kept_at = artifacts.kept_at(key)
        if kept_at is None or kept_at > before:
            continue
        size = artifacts.size(key) if is_dry_run else artifacts.delete(key)
        sizes += [] if size is None else [size]
    return len(sizes), sum(sizes)
