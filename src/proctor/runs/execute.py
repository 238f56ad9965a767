"""Execute a run: from the first time or from wherever it stopped."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from decimal import Decimal
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from proctor.costs.durable_budget import DurableBudget
from proctor.domain.errors import ProctorError, RunError, StoreError, UserError
from proctor.domain.evaluation import Evaluation
from proctor.domain.event import Observer
from proctor.domain.plan import Limits, Plan
from proctor.domain.run import RunStatus
from proctor.domain.scope import Scope
from proctor.domain.tracing import span
from proctor.engine.budget import Budget, out_of_money
from proctor.engine.loop import ModelWork, Work, execute
from proctor.engine.ratelimit import RateLimits, RunRateLimits
from proctor.judges.asking import judging, lost
from proctor.offline import confined
from proctor.planning.expand import trials_of
from proctor.planning.matrix import expand_matrix
from proctor.runs.asking import (
    concurrency_of,
    first_cause,
    hopeless,
    isolate_observers,
    numbered,
    refuse_changed,
    refuse_gaps,
    versions_of,
)
from proctor.runs.equipment import equipped, refuse_unusable
from proctor.runs.execution import RunExecution
from proctor.runs.heartbeat import RunClock, kept_alive
from proctor.runs.packing import pack_run, stoppable
from proctor.runs.replay import bind_replays, name_replays
from proctor.runs.resolve import PlanContext, close_models, resolve
from proctor.stores.connection import POSTGRESQL
from proctor.stores.database import Database
from proctor.stores.journal import DatabaseJournal
from proctor.stores.leases import Lease, LeaseLostError
from proctor.stores.patience import patiently
from proctor.stores.rescorings import RescoringStore
from proctor.stores.runs import GROUP_SIZES, RunRow, RunStore
from proctor.stores.scores import ScoreStore

if TYPE_CHECKING:
    from proctor.stopping.rule import Value

log = logging.getLogger("proctor.runs")


def submit(plan: Plan, context: PlanContext, database: Database) -> RunExecution:
    """Resolve the plan and write the run; nothing has been asked yet."""
    refuse_gaps(plan)
    database = database.within(Scope(database.scope.owner))
    plan = name_replays(expand_matrix(plan, context.folder), database)
    evaluations = resolve(plan, context, database)
    refuse_unusable(plan, evaluations)
    store = RunStore(database)
    pinned = tuple(item.benchmark_spec for item in evaluations[: len(plan.benchmarks)])  # each model has all of them
    plan = plan.model_copy(update={"benchmarks": pinned})
    run_id = store.create(plan, evaluations, context.folder, context.data)
    return _execution(run_id, plan, evaluations, store, database, context)


def reopen(run: RunRow, context: PlanContext, database: Database, limits: Limits | None = None) -> RunExecution:
    """Take up a run again; refuses when a benchmark is no longer what it was."""
    database = database.within(Scope(run.project))
    store = RunStore(database)
    _refuse_of_workers(run, store, database)
    RescoringStore(database).refuse_open(run.id)
    plan = run.plan if limits is None else run.plan.model_copy(update={"limits": limits})
    then = replace(context, folder=run.folder, data=context.data or run.data)
    evaluations = resolve(plan, then, database)
    refuse_changed(evaluations, store.evaluation_rows(run.id), run.id)
    execution = _execution(run.id, plan, evaluations, store, database, context)
    execution.is_reopened = True
    return execution


def _refuse_of_workers(run: RunRow, store: RunStore, database: Database) -> None:
    """Two who execute a run would ask everything twice."""
    from proctor.stores.queue import QueueStore

    queued = QueueStore(database).get(run.id)
    if queued is not None and not queued.is_finished:
        raise RunError(
            f"Run {run.id} is carried out by workers. Wait for it, or stop it with 'proctor cancel {run.id}' and "
            "resume it then."
        )
    if not store.evaluation_rows(run.id):
        raise UserError(f"Run {run.id} ended before it was prepared: there is nothing to resume. Start it again.")


def _execution(
    run_id: str,
    plan: Plan,
    evaluations: list[Evaluation],
    store: RunStore,
    database: Database,
    context: PlanContext,
) -> RunExecution:
    recorded = numbered(evaluations, store.evaluation_rows(run_id))
    bind_replays(recorded, database)
    is_offline = plan.offline or context.is_offline
    return RunExecution(run_id, plan, recorded, database, is_offline, context.artifacts, context.home)


async def execute_run(execution: RunExecution) -> RunStatus:
    """Finish whatever is unfinished; calling it again after any end, a crash included, is harmless."""
    with span("execute run", {"proctor.run.id": execution.run_id}):
        return await _execute(execution)


async def _execute(execution: RunExecution) -> RunStatus:
    store = RunStore(execution.database)
    was_completed = store.get(execution.run_id).status is RunStatus.COMPLETED
    lease = store.lease(execution.run_id)
    if execution.is_reopened:
        store.use_scorers(lease, versions_of(execution.evaluations))
    if execution.rule is not None:
        # Which groups are whole is known from the plan alone, and whoever reads the run has no plan.
        store.add_event(execution.run_id, GROUP_SIZES, execution.rule.group_sizes)
    clock, observe = RunClock(), _observer(execution)
    status: RunStatus = RunStatus.FAILED
    error: str | None = "the process ended"
    try:
        with confined(execution.is_offline):
            async with (
                kept_alive(execution, lease, store, clock),
                equipped(
                    execution.plan,
                    execution.evaluations,
                    execution.stopping,
                    observe,
                    record=partial(store.add_event, execution.run_id),
                    artifacts=execution.artifacts,
                    home=execution.home,
                ) as execution.evaluations,
            ):
                status, error = await _attempt(execution, lease, store, observe)
        if execution.is_lost:
            raise LeaseLostError(execution.run_id)
    except ProctorError as failure:
        error = str(failure)
        raise
    finally:
        await close_models(execution.evaluations)
        try:
            is_idle = was_completed and not execution.progress.recorded  # looking for work is no part of the run
            seconds = -clock.written if is_idle else clock.seconds
            await asyncio.to_thread(patiently, lambda: store.finish(lease, status, seconds, error))
        except ProctorError:
            # The store failed or another process has the run; the error that says so is already on its way.
            log.debug("the end of run %s could not be written", execution.run_id)
    if status is RunStatus.COMPLETED:
        await _keep_raw_data(execution, lease, store)
    await stoppable(partial(pack_run, execution.database, execution.run_id))
    return status


async def _keep_raw_data(execution: RunExecution, lease: Lease, store: RunStore) -> None:
    """A server drops months of responses; the run's own are then still there, as one artifact."""
    if execution.artifacts is None or execution.database.dialect is not POSTGRESQL:
        return
    from proctor.runs.raw_data import keep_raw_data

    database, run_id, artifacts = execution.database, execution.run_id, execution.artifacts
    try:
        key = await asyncio.to_thread(patiently, lambda: keep_raw_data(database, run_id, artifacts))
        await asyncio.to_thread(store.keep_raw_data, lease, key)
    except StoreError as fault:  # the run is complete without it
        log.warning("the responses of run %s are not kept as one artifact: %s", run_id, fault)


async def _attempt(
    execution: RunExecution, lease: Lease, store: RunStore, observe: Observer
) -> tuple[RunStatus, str | None]:
    async with _journal(execution, lease, store.get(execution.run_id).month) as journal:
        try:
            given_up = await _ask_everything(execution, lease, store, journal, observe)
        except BaseExceptionGroup as group:
            raise first_cause(group) from group
    if execution.stop_reason is not None:
        return RunStatus.CANCELLED, execution.stop_reason
    if given_up:
        return RunStatus.FAILED, "; ".join(f"{label}: {reason}" for label, reason in given_up.items())
    words = [hopeless(item) for item in execution.progress.evaluations.values()]
    if any(words):
        return RunStatus.FAILED, "; ".join(text for text in words if text)
    return RunStatus.COMPLETED, None


@asynccontextmanager
async def _journal(execution: RunExecution, lease: Lease, month: int) -> AsyncIterator[DatabaseJournal]:
    journal = DatabaseJournal(
        execution.database,
        versions_of(execution.evaluations),
        month,
        {item.id: item.price.basis for item in execution.evaluations if item.price is not None},
        lease,
    )
    try:
        yield journal
    finally:
        await journal.close()


async def _ask_everything(
    execution: RunExecution, lease: Lease, store: RunStore, journal: DatabaseJournal, observe: Observer
) -> dict[str, str]:
    """Every trial that can be finished is; gives the models and judges that were given up, and why."""
    limits = execution.plan.limits
    rates = RateLimits(limits.requests_per_minute, limits.tokens_per_minute)
    budget = _budget(execution, lease, store)
    async with judging(
        [scorer for item in execution.evaluations for scorer in item.scorers],
        execution.database,
        execution.stopping,
        observe,
        use_cache=execution.plan.cache,
        budget=budget,
        rates=rates,
    ) as judges:
        if execution.plan.batch:
            from proctor.batches.execute import execute_batches

            given_up = await execute_batches(
                execution.evaluations,
                journal,
                execution.database,
                retries=limits.retries,
                stopping=execution.stopping,
                observe=observe,
                budget=budget,
            )
        else:
            work = _work_by_model(execution, rates)
            given_up = await execute(work, journal, stopping=execution.stopping, observe=observe, budget=budget)
        given_up |= lost(judges)
    if isinstance(budget, DurableBudget):
        budget.close()
    return given_up


def _budget(execution: RunExecution, lease: Lease, store: RunStore) -> Budget | None:
    """The plan's cap, less what earlier executions of this run have spent."""
    cap = execution.plan.limits.cost_usd
    if cap is None:
        return None
    ledger = RunLedger(lease, store, ScoreStore(execution.database))

    def stop(next_usd: Decimal) -> None:
        execution.stop(out_of_money(cap, budget.spent_usd, next_usd))

    # What batches may cost is kept with each of them.
    budget = Budget(cap, ledger.recorded_usd(), stop) if execution.plan.batch else DurableBudget(cap, ledger, stop)
    return budget


class RunLedger(Struct, frozen=True):
    """A run's money, as the store has it."""

    lease: Lease
    store: RunStore
    scores: ScoreStore

    def recorded_usd(self) -> Decimal:
        run_id = self.lease.run_id
        return patiently(lambda: self.store.spent_usd(run_id) + self.scores.spent_on_judges(run_id))

    def unanswered_usd(self) -> Decimal:
        return self.store.get(self.lease.run_id).unanswered_usd

    def keep_unanswered(self, amount_usd: Decimal) -> None:
        patiently(lambda: self.store.keep_unanswered(self.lease, amount_usd))


def _work_by_model(execution: RunExecution, rates: RunRateLimits) -> list[ModelWork]:
    limits = execution.plan.limits
    return [
        ModelWork(
            label=label,
            model=items[0].model,
            work=[_work(item, execution) for item in items],
            concurrency=concurrency_of(limits, items[0].model),
            retries=limits.retries,
            timeout_seconds=limits.timeout_seconds,
            price=items[0].price,
            rate=rates.of(items[0].model),
            breaker=rates.breaker_of(items[0].model),
        )
        for label, items in _by_label(execution.evaluations)
    ]


def _work(item: Evaluation, execution: RunExecution) -> Work:
    rule = execution.rule
    if rule is None:
        return Work(item.id, trials_of(item), item.scorers)
    from proctor.stopping.rule import UNREADABLE
    from proctor.stores.measuring import MeasuringStore, Unmeasured

    scorer, results = item.scorers[0], MeasuringStore(execution.database)
    counted = results.sample_scores(item.id, scorer.name, scorer.version, Unmeasured.UNREADABLE_WRONG)
    recorded: dict[str, Value] = {score.sample_id: UNREADABLE for score in counted}
    for score in results.sample_scores(item.id, scorer.name, scorer.version):
        recorded[score.sample_id] = score.value
    return Work(item.id, rule.gate(trials_of(item), recorded), item.scorers, lambda: rule.wants(item.id))


def _by_label(evaluations: Sequence[Evaluation]) -> list[tuple[str, list[Evaluation]]]:
    return [(label, list(items)) for label, items in groupby(evaluations, key=lambda item: item.label)]


def _observer(execution: RunExecution) -> Observer:
    rules: list[Observer] = [] if execution.rule is None else [execution.rule]
    return isolate_observers([execution.progress, *rules, *execution.observers])
