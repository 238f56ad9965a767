"""The runs there are, as people ask for them."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from datetime import datetime

from msgspec.structs import replace

from proctor.domain.documents.listing import ListedRun, RunKind, ShownStatus
from proctor.domain.errors import NotFoundError, did_you_mean
from proctor.domain.price import UNKNOWN
from proctor.domain.run import RunStatus
from proctor.domain.text import shorten
from proctor.runs.measuring.totals import costs_of
from proctor.runs.playground.reading import without_lost
from proctor.runs.playground.showing import SHOWN_OF_PROMPT, Reader, cost_of, is_revealed
from proctor.stores.comparing import known_names
from proctor.stores.database import Database
from proctor.stores.listing import RunFilter, RunListing, asked_models, list_asks, list_runs
from proctor.stores.moments import text_of
from proctor.stores.playground import OPEN_STATES, PREFIX, AskRow, PlaygroundStore
from proctor.stores.runs import PROGRESS, RunStore

OPEN = (RunStatus.QUEUED, RunStatus.RUNNING)


EVALUATIONS = frozenset({RunKind.EVALUATION})
LOCAL_READER = Reader("local", may_vote=True)


def find_runs(
    database: Database,
    *,
    limit: int,
    wanted: RunFilter | None = None,
    status: ShownStatus | None = None,
    before: str | None = None,
    kinds: frozenset[RunKind] = EVALUATIONS,
    reader: Reader = LOCAL_READER,
) -> list[ListedRun]:
    """The newest runs that fit, one more than `limit` where there are more; `before` names the last one seen.

    Asks of the playground are among them where their kind is wanted; `reader` says whose costs are shown.
    """
    wanted = wanted or RunFilter()
    _refuse_unknown(database, wanted, kinds)
    statuses = OPEN if status in (ShownStatus.INTERRUPTED, *OPEN) else () if status is None else (RunStatus(status),)
    found: list[ListedRun] = []
    key = None if before is None else _key(database, before)
    read = []
    if RunKind.EVALUATION in kinds:
        read.append(_read_runs(database, limit + 1, replace(wanted, statuses=statuses), key))
    if RunKind.PLAYGROUND in kinds and status is not ShownStatus.INTERRUPTED:
        of_asks = () if status is None else (RunStatus(status),)
        read.append(_read_asks(database, limit + 1, replace(wanted, statuses=of_asks), key, reader))
    for item in heapq.merge(*read, key=_place, reverse=True):
        if status in (None, item.shown_status):
            found.append(item)
        if len(found) > limit:
            break
    return found


def kinds_of(word: str) -> frozenset[RunKind]:
    """Of `all`, both of them."""
    return frozenset(RunKind) if word == "all" else frozenset({RunKind(word)})


def _read_runs(
    database: Database, page: int, wanted: RunFilter, key: tuple[str, str] | None
) -> Iterator[ListedRun]:  # fmt: skip
    """Page by page, each from where the one before ended: what is added meanwhile moves nothing."""
    while rows := list_runs(database, limit=page, wanted=wanted, before=key):
        for row in rows:
            yield _listed(database, row)
        key = (text_of(rows[-1].created_at), rows[-1].id)


def _read_asks(
    database: Database, page: int, wanted: RunFilter, key: tuple[str, str] | None, reader: Reader
) -> Iterator[ListedRun]:
    while rows := list_asks(database, limit=page, wanted=wanted, before=key):
        for row in rows:
            yield _listed_ask(without_lost(database, row), reader)
        key = (rows[-1].created_at, rows[-1].id)


def _place(item: ListedRun) -> tuple[str, str]:
    return text_of(item.created_at), item.run_id


def _key(database: Database, reference: str) -> tuple[str, str]:
    if reference.startswith(PREFIX):
        ask = PlaygroundStore(database).get(reference)
        return ask.created_at, ask.id
    run = RunStore(database).get(reference)
    return text_of(run.created_at), run.id


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
        kind=RunKind.EVALUATION,
        name=row.name,
        started_by=row.started_by,
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
        tags=row.tags,
    )


def _listed_ask(row: AskRow, reader: Reader) -> ListedRun:
    """An ask as a line in a list of runs; what it cost is told once its names are."""
    ended = [one for one in row.answers if one.state not in OPEN_STATES]
    status, is_open = _status_of(row), len(ended) < len(row.answers)
    parts = [(cost_of(one.details), one.details.get("cost_basis") or UNKNOWN) for one in row.answers]
    costs = costs_of(parts, []) if is_revealed(row, reader) and not is_open else None
    return ListedRun(
        run_id=row.id,
        kind=RunKind.PLAYGROUND,
        name=shorten(str(row.request.get("prompt") or ""), SHOWN_OF_PROMPT),
        started_by=row.author,
        status=status,
        shown_status=ShownStatus(status),
        is_executing=is_open,
        created_at=datetime.fromisoformat(row.created_at),
        seconds=max((float(one.details.get("latency_seconds") or 0) for one in ended), default=0.0),
        models=sorted(dict.fromkeys(one.model for one in row.answers)),
        benchmarks=[],
        trials=len(row.answers),
        done=len(ended) if is_open else None,
        cost_usd=None if costs is None else costs.cost_usd,
        cost_basis=None if costs is None else costs.cost_basis,
    )


def _status_of(row: AskRow) -> RunStatus:
    states = {one.state for one in row.answers}
    if states & set(OPEN_STATES):
        return RunStatus.RUNNING
    if "complete" in states:
        return RunStatus.COMPLETED
    return RunStatus.FAILED if "failed" in states else RunStatus.CANCELLED


def _state(store: RunStore, row: RunListing) -> tuple[ShownStatus, int | None]:
    """What is shown as the run's status, and how many trials are done, of a run that a process executes."""
    if row.status not in OPEN:
        return ShownStatus(row.status), None
    if not store.is_executing(row.id):
        return ShownStatus.INTERRUPTED, None
    progress = store.last_event(row.id, PROGRESS) or {}
    return ShownStatus(row.status), int(progress.get("done", 0))


def _refuse_unknown(database: Database, wanted: RunFilter, kinds: frozenset[RunKind]) -> None:
    """A name that no run has is a slip of the pen, not a question with no answer."""
    for column, names in (("model", wanted.models), ("benchmark", wanted.benchmarks)):
        known = known_names(database, column) if names else []
        if names and column == "model" and RunKind.PLAYGROUND in kinds:
            known += asked_models(database)
        for name in names:
            if name not in known:
                raise NotFoundError(f"No {column} {name!r} has been evaluated.{did_you_mean(name, known)}")
