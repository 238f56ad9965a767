"""Remove runs that ended long ago with all that is theirs alone, empty months, and artifacts without owner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from proctor.domain.artifacts import Artifacts
from proctor.domain.documents.retention import ExpiredRunFigures, RetentionFigures, RetentionRules
from proctor.domain.errors import NotFoundError, RunError, UserError, did_you_mean
from proctor.domain.scope import Scope
from proctor.runs.deleting import delete_run, delete_submission
from proctor.stores.accounts.audit import AuditStore
from proctor.stores.accounts.users import ProjectStore
from proctor.stores.database import Database
from proctor.stores.deleting import referring_runs
from proctor.stores.moments import month_of
from proctor.stores.retention import (
    ASKS,
    CACHE,
    KINDS,
    RUNS,
    SUBMISSIONS,
    ExpiredRun,
    drop_empty_month,
    droppable_months,
    expire_asks,
    expire_cache,
    expired_runs,
    expired_submissions,
    orphans,
    read_rules,
    write_rules,
)
from proctor.stores.runs import RunStore

ORPHAN_DAYS = 1
"""An artifact is kept before the row that refers to it: a younger one may still get its owner."""


def apply_retention(
    database: Database, artifacts: Artifacts, days: float | None, *, is_dry_run: bool
) -> RetentionFigures:
    """Remove what expired in each project, or only say what would go; `days` holds where a project says nothing.

    Runs that others replay or are compared with stay.
    """
    now, notes = datetime.now(UTC), list[str]()
    rules = read_rules(database)
    expired = [run for name, own in rules.items() for run in _expired(database, name, own.get(RUNS, days), now)]
    removed, count, size = _remove_runs(
        database, artifacts, _without_referred(database, expired, notes), notes, is_dry_run=is_dry_run
    )
    asks = cached = submissions = 0
    for name, own in rules.items():
        scoped = database.within(Scope(name))
        if (kept := own.get(ASKS)) is not None:
            asks += expire_asks(scoped, now - timedelta(days=kept), is_dry_run=is_dry_run)
        if (kept := own.get(CACHE)) is not None:
            cached += expire_cache(scoped, now - timedelta(days=kept), is_dry_run=is_dry_run)
        if (kept := own.get(SUBMISSIONS)) is not None:
            for submission in expired_submissions(scoped, now - timedelta(days=kept)):
                try:
                    done = None if is_dry_run else delete_submission(scoped, artifacts, submission)
                except (NotFoundError, RunError) as error:
                    notes.append(str(error))
                    continue
                submissions += 1
                if done is not None:
                    count, size = count + done.artifacts, size + done.artifact_bytes
    months = droppable_months(database, {run.id for run in removed}, month_of(now))
    if not is_dry_run:
        months = [month for month in months if drop_empty_month(database, month)]
    more, more_bytes = _collect(database, artifacts, now, notes, is_dry_run=is_dry_run)
    return RetentionFigures(
        is_dry_run=is_dry_run,
        days=days,
        runs=[
            ExpiredRunFigures(run.id, run.project, run.name, run.status, run.finished_at, run.responses)
            for run in removed
        ],
        months=months,
        asks=asks,
        submissions=submissions,
        cached=cached,
        artifacts=count + more,
        artifact_bytes=size + more_bytes,
        notes=notes,
    )


def set_rules(
    database: Database, project: str, changes: Mapping[str, float | None], forgotten: Sequence[str], *, by: str
) -> RetentionRules:
    """Change how long a project keeps what, and give all it says; what is forgotten is as long as the operator says."""
    ProjectStore(database).require(project)
    if unknown := sorted({*changes, *forgotten} - set(KINDS)):
        raise UserError(
            f"There is nothing called {unknown[0]!r} to keep.{did_you_mean(unknown[0], KINDS)} There are: "
            f"{', '.join(KINDS)}."
        )
    rules = {**read_rules(database).get(project, {}), **changes}
    rules = {kind: days for kind, days in rules.items() if kind not in forgotten}
    if changes or forgotten:
        write_rules(database, project, rules)
        said = ", ".join(f"{kind}={'never' if days is None else f'{days:g}d'}" for kind, days in sorted(rules.items()))
        AuditStore(database).add(by, "set-retention", of=project, project=project, outcome=said or "none")
    return RetentionRules(project, rules)


def _expired(database: Database, project: str, days: float | None, now: datetime) -> list[ExpiredRun]:
    return [] if days is None else expired_runs(database.within(Scope(project)), now - timedelta(days=days))


def _remove_runs(
    database: Database, artifacts: Artifacts, going: list[ExpiredRun], notes: list[str], *, is_dry_run: bool
) -> tuple[list[ExpiredRun], int, int]:
    """Those that are gone, or would be; how many artifacts went with them, and their bytes."""
    removed, count, size = list[ExpiredRun](), 0, 0
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
    return removed, count, size


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
