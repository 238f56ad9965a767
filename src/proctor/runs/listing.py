"""The runs there are, as people ask for them."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from proctor.domain.documents.listing import ListedRun, ShownStatus
from proctor.domain.errors import NotFoundError, did_you_mean
from proctor.domain.price import UNKNOWN
from proctor.domain.run import RunStatus
from proctor.runs.measuring.totals import costs_of
from proctor.stores.comparing import known_names
from proctor.stores.database import Database
from proctor.stores.listing import RunFilter, RunListing, list_runs
from proctor.stores.runs import PROGRESS, RunStore

OPEN = (RunStatus.QUEUED, RunStatus.RUNNING)


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
        if status in (None, item.shown_status):
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
    status, done = _state(RunStore(database), row)
    costs = None
    if row.costs is not None:
        judged = [work for _, _, by_scorer in row.costs for judges in by_scorer.values() for work in judges.values()]
        costs = costs_of(
            [(usd, basis) for usd, basis, _ in row.costs],
            [(work["cost_usd"], work.get("cost_basis", UNKNOWN)) for work in judged],
        )
    return ListedRun(
        run_id=row.id,
        name=row.name,
        status=row.status,
        shown_status=status,
        is_executing=done is not None,
        created_at=row.created_at,
        seconds=row.seconds,
        models=row.models,
        benchmarks=row.benchmarks,
        trials=row.trials,
        done=done,
        cost_usd=None if costs is None else costs.cost_usd,
        cost_basis=None if costs is None else costs.cost_basis,
    )


def _state(store: RunStore, row: RunListing) -> tuple[ShownStatus, int | None]:
    """What is shown as the run's status, and how many trials are done, of a run that a process executes."""
    if row.status not in OPEN:
        return ShownStatus(row.status), None
    if not store.is_executing(row.id):
        return ShownStatus.INTERRUPTED, None
    progress = store.last_event(row.id, PROGRESS) or {}
    return ShownStatus(row.status), int(progress.get("done", 0))


def _refuse_unknown(database: Database, wanted: RunFilter) -> None:
    """A name that no run has is a slip of the pen, not a question with no answer."""
    for column, names in (("model", wanted.models), ("benchmark", wanted.benchmarks)):
        known = known_names(database, column) if names else []
        for name in names:
            if name not in known:
                raise NotFoundError(f"No {column} {name!r} has been evaluated.{did_you_mean(name, known)}")
