"""End a run whose chunks have all ended: exactly once, whoever comes first."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from decimal import Decimal

from proctor.domain.artifacts import Artifacts
from proctor.domain.errors import NotFoundError, StoreError
from proctor.domain.log_context import log_context
from proctor.domain.run import CANCELLED_REASON, RunStatus
from proctor.domain.tracing import span
from proctor.domain.trial import Outcome
from proctor.runs.asking import every_trial_failed
from proctor.runs.chunks.step import kept
from proctor.runs.packing import pack_run
from proctor.runs.sides import sides_of_rows
from proctor.stores.connection import POSTGRESQL
from proctor.stores.database import Database
from proctor.stores.events import context_of
from proctor.stores.queue import QueueRow, QueueStore
from proctor.stores.runs import RunRow, RunStore
from proctor.stores.steps import StepStore

MISSING_SECONDS, MISSING_AT_A_TIME = (60.0, 86_400.0), 5
"""Whose responses are looked for: of runs that ended so long ago, and before that whoever ended them is at it."""
log = logging.getLogger("proctor.runs")


def finish_run(
    run_id: str,
    database: Database,
    artifacts: Artifacts | None = None,
    *,
    is_to_be_packed: Callable[[], bool] = lambda: True,
) -> RunStatus | None:
    """Write how the run ended, compute its figures and keep its raw data; None when there is nothing to end.

    Calling it again, or in several processes at once, is harmless. Packing a large run takes a minute, and so does
    keeping its responses: once `is_to_be_packed` says no, a worker does it later.
    """
    queue, store = QueueStore(database), RunStore(database)
    steps = StepStore(database)
    lease = steps.lease(run_id)
    if lease is None:
        return None
    run, queued = store.get(run_id), queue.get(run_id)
    is_cancelled = run.status is RunStatus.CANCELLED
    if queued is None or queued.chunks_open or not (queued.is_prepared or is_cancelled):
        steps.release(lease)
        return None
    with kept(steps, lease):
        status, error = _ending(run, queued, database)
        unanswered = None
        if run.plan.limits.cost_usd is not None and queued.is_prepared:
            unanswered = max(Decimal(0), queued.taken_usd - _recorded_usd(run_id, database))
        if not steps.finish(lease, status, error, unanswered):
            return None
    told = context_of(database, run_id)
    tracing = span("finish run", {"proctor.run.id": run_id}, parent=told.get("traceparent"))
    with log_context(**told, run_id=run_id), tracing:
        log.info("run_ended", extra={"status": status.value, "error": error})
        _compute_figures(run_id, database)
    if status is RunStatus.COMPLETED:
        _keep_raw_data(run_id, database, artifacts, is_to_be_packed)
    pack_run(database, run_id, is_to_be_packed)
    return status


def _ending(run: RunRow, queued: QueueRow, database: Database) -> tuple[RunStatus, str | None]:
    if run.status is RunStatus.CANCELLED:
        return RunStatus.CANCELLED, CANCELLED_REASON
    if queued.given_up:
        reasons = [f"{label}: {why}" if label else why for label, why in queued.given_up.items()]
        return RunStatus.FAILED, "; ".join(reasons)
    if queued.stop_reason is not None:
        return RunStatus.CANCELLED, queued.stop_reason
    hopeless = _hopeless(run, queued, database)
    return (RunStatus.FAILED, hopeless) if hopeless else (RunStatus.COMPLETED, None)


def _hopeless(run: RunRow, queued: QueueRow, database: Database) -> str | None:
    """Words for evaluations in which nothing at all could be measured."""
    tally = queued.tally
    if not tally.failed + tally.skipped:
        return None
    from proctor.stores.measuring import MeasuringStore
    from proctor.stores.results import ResultStore

    figures, words = MeasuringStore(database), []
    rows = RunStore(database).evaluation_rows(run.id)
    for row, (side, _) in zip(rows, sides_of_rows(rows), strict=True):
        trials = row["samples"] * row["epochs"]
        if tally.failed + tally.skipped >= trials and figures.tally(row["id"]).failed >= trials:
            where = {"model": row["model"], "benchmark": row["benchmark"]}
            failed = next(ResultStore(database).results(run.id, outcome=Outcome.FAILED, where=where), None)
            reasons = [] if failed is None else [failed.error, *(score.reason for score in failed.scores)]
            fault = next(filter(None, reasons), "no scorer could measure an answer")
            words.append(every_trial_failed(row["model"], side, row["benchmark"], fault))
    return "; ".join(words) or None


def _recorded_usd(run_id: str, database: Database) -> Decimal:
    from proctor.stores.scores import ScoreStore

    return RunStore(database).spent_usd(run_id) + ScoreStore(database).spent_on_judges(run_id)


def _compute_figures(run_id: str, database: Database) -> None:
    """Whoever reads the run first would otherwise wait for them; where it fails, they do."""
    from proctor.runs.read import read_run

    try:
        with suppress(NotFoundError):  # somebody deletes it already
            read_run(database, run_id)
    except StoreError as fault:
        log.warning("the figures of run %s are computed when it is read: %s", run_id, fault)


def _keep_raw_data(
    run_id: str, database: Database, artifacts: Artifacts | None, go_on: Callable[[], bool] = lambda: True
) -> bool:
    """A server drops months of responses; the run's own are then still there, as one artifact."""
    if artifacts is None or database.dialect is not POSTGRESQL:
        return False
    from proctor.runs.raw_data import RawDataStoppedError, keep_raw_data

    try:
        QueueStore(database).keep_raw_data(run_id, keep_raw_data(database, run_id, artifacts, go_on))
    except RawDataStoppedError:
        return False  # of a large run it takes minutes: another worker does it, see `keep_missing_raw_data`
    except StoreError as fault:  # the run is complete without it
        log.warning("the responses of run %s are not kept as one artifact: %s", run_id, fault)
        return False
    return True


def keep_missing_raw_data(database: Database, artifacts: Artifacts | None) -> int:
    """Keep the responses of runs whose worker was lost between their end and that; gives of how many."""
    if artifacts is None or database.dialect is not POSTGRESQL:
        return 0
    found = QueueStore(database).without_raw_data(MISSING_SECONDS, MISSING_AT_A_TIME)
    return sum(_keep_raw_data(run_id, database, artifacts) for run_id in found)
