"""The runs there are, as people ask for them."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from proctor.domain.errors import NotFoundError, did_you_mean
from proctor.domain.run import RunStatus
from proctor.stores.comparing import known_names
from proctor.stores.database import Database
from proctor.stores.listing import RunFilter, RunListing, list_runs
from proctor.stores.runs import PROGRESS, RunStore

OPEN = (RunStatus.QUEUED, RunStatus.RUNNING)


class ShownStatus(StrEnum):
    """What a person wants to know of a run: one whose process is gone is not running, whatever it wrote last."""

    QUEUED = "queued"
    RUNNING = "running"
    INTERRUPTED = "interrupted"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


class ListedRun(Struct, frozen=True):
    run: RunListing
    status: ShownStatus
    done: int | None
    """Trials that are finished, while a process executes the run."""

    @property
    def is_executing(self) -> bool:
        return self.done is not None


def find_runs(
    database: Database,
    *,
    limit: int,
    wanted: RunFilter | None = None,
    status: ShownStatus | None = None,
    before: str | None = None,
) -> list[ListedRun]:
    """The newest runs that fit, one more than `limit` where there are more; `before` names the last one seen."""
    wanted = wanted or RunFilter()
    _refuse_unknown(database, wanted)
    statuses = OPEN if status in (ShownStatus.INTERRUPTED, *OPEN) else () if status is None else (RunStatus(status),)
    found: list[ListedRun] = []
    for item in _read(database, limit + 1, replace(wanted, statuses=statuses), before):
        if status in (None, item.status):
            found.append(item)
        if len(found) > limit:
            break
    return found


def _read(database: Database, page: int, wanted: RunFilter, before: str | None) -> Iterator[ListedRun]:
    """Page by page, each from where the one before ended: what is added meanwhile moves nothing."""
    key = None if before is None else _key(database, before)
    while rows := list_runs(database, limit=page, wanted=wanted, before=key):
        for row in rows:
            yield _listed(database, row)
        key = (rows[-1].created_at.isoformat(timespec="microseconds"), rows[-1].id)


def _key(database: Database, reference: str) -> tuple[str, str]:
    run = RunStore(database).get(reference)
    return run.created_at.isoformat(timespec="microseconds"), run.id


def _listed(database: Database, row: RunListing) -> ListedRun:
    if row.status not in OPEN:
        return ListedRun(row, ShownStatus(row.status), None)
    store = RunStore(database)
    if not store.is_executing(row.id):
        return ListedRun(row, ShownStatus.INTERRUPTED, None)
    progress = store.last_event(row.id, PROGRESS) or {}
    return ListedRun(row, ShownStatus(row.status), int(progress.get("done", 0)))


def _refuse_unknown(database: Database, wanted: RunFilter) -> None:
    """A name that no run has is a slip of the pen, not a question with no answer."""
    for column, names in (("model", wanted.models), ("benchmark", wanted.benchmarks)):
        known = known_names(database, column) if names else []
        for name in names:
            if name not in known:
                raise NotFoundError(f"No {column} {name!r} has been evaluated.{did_you_mean(name, known)}")
