"""Prepare an accepted run: names are resolved, versions and seeds fixed, and all of it is cut into chunks."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from decimal import Decimal

from msgspec.structs import replace

from proctor.domain.errors import ProctorError, StoreError
from proctor.domain.evaluation import Evaluation
from proctor.domain.log_context import log_context
from proctor.domain.message import Json
from proctor.domain.plan import Plan
from proctor.domain.run import RunStatus
from proctor.domain.scope import Scope
from proctor.domain.tracing import span
from proctor.offline import confined
from proctor.planning.matrix import expand_matrix
from proctor.planning.selection import Filtered, SelectedSamples
from proctor.runs.asking import refuse_changed
from proctor.runs.chunks.content import restored
from proctor.runs.chunks.slices import slices_of
from proctor.runs.chunks.step import kept
from proctor.runs.chunks.trial_count import refuse_too_many_trials
from proctor.runs.replay import name_replays
from proctor.runs.resolve import PlanContext, close_models, resolve
from proctor.stores.database import Database
from proctor.stores.events import context_of
from proctor.stores.leases import LeaseLostError, work_on_first
from proctor.stores.queue import QueueStore
from proctor.stores.runs import GROUP_SIZES, RANDOM_ORDER, RunRow, RunStore
from proctor.stores.scores import ScoreStore
from proctor.stores.steps import StepLease, StepStore

PREPARERS = 3
"""Workers that may be lost with a run's preparation before it fails."""
log = logging.getLogger("proctor.runs")


async def prepare_next(context: PlanContext, database: Database) -> bool:
    """Prepare a run that waits for it, of projects in turn; False where none does."""
    return await work_on_first(QueueStore(database).to_prepare, lambda one: prepare(one, context, database))


async def prepare(run_id: str, context: PlanContext, database: Database) -> bool:
    """Write the run's evaluations and all its chunks, or end it as failed with the reason.

    False when there was nothing to do, or another process does it; calling it again is harmless.
    """
    queue, steps = QueueStore(database), StepStore(database)
    queued = await asyncio.to_thread(queue.get, run_id)
    if queued is None or queued.is_prepared or queued.is_finished:
        return False
    lease = await asyncio.to_thread(steps.lease, run_id)
    if lease is None:
        return False
    told = await asyncio.to_thread(context_of, database, run_id)
    tracing = span("prepare run", {"proctor.run.id": run_id}, parent=told.get("traceparent"))
    with kept(steps, lease), log_context(**told, run_id=run_id), tracing:
        return await _prepare(lease, context, database, steps)


async def _prepare(lease: StepLease, context: PlanContext, database: Database, steps: StepStore) -> bool:
    run = await asyncio.to_thread(RunStore(database).get, lease.run_id)
    queued = await asyncio.to_thread(QueueStore(database).get, run.id)
    if queued is None or queued.is_prepared or run.status is not RunStatus.QUEUED:
        await asyncio.to_thread(steps.release, lease)
        return False
    evaluations: list[Evaluation] = []
    if queued.lost_leases >= PREPARERS:
        reason = f"{queued.lost_leases} workers in a row were lost while they prepared the run"
        return await asyncio.to_thread(steps.finish, lease, RunStatus.FAILED, reason)
    try:
        with confined(run.plan.offline or context.is_offline):
            mine = await asyncio.to_thread(context.of_project, run.project)
            here = replace(mine, folder=run.folder, data=run.data or context.data)
            with restored(queued.content, here) as here:
                evaluations = await asyncio.to_thread(_write, lease, run, here, database, steps)
        log.info("run_prepared", extra={"trials": sum(item.trials for item in evaluations)})
    except (StoreError, LeaseLostError):
        await asyncio.to_thread(steps.release, lease)
        raise
    except Exception as fault:
        if not isinstance(fault, ProctorError):
            log.exception("run %s could not be prepared", run.id)
        reason = str(fault) if isinstance(fault, ProctorError) else f"{type(fault).__name__}: {fault}"
        log.info("run_ended", extra={"status": RunStatus.FAILED.value, "error": reason})
        await asyncio.to_thread(steps.finish, lease, RunStatus.FAILED, reason)
    finally:
        await close_models(evaluations)
    return True


def _write(lease: StepLease, run: RunRow, here: PlanContext, database: Database, steps: StepStore) -> list[Evaluation]:
    database = database.within(Scope(run.project))
    plan = name_replays(expand_matrix(run.plan, here.folder), database)
    evaluations = resolve(plan, here, database)
    refuse_too_many_trials(evaluations)
    store = RunStore(database)
    refuse_changed(evaluations, store.evaluation_rows(run.id), run.id)
    pinned = tuple(item.benchmark_spec for item in evaluations[: len(plan.benchmarks)])  # each model has all of them
    plan = plan.model_copy(update={"benchmarks": pinned})
    taken = Decimal(0)
    if plan.limits.cost_usd is not None:
        spent = store.spent_usd(run.id) + ScoreStore(database).spent_on_judges(run.id)
        taken = spent + run.unanswered_usd
    steps.write_prepared(
        lease,
        plan,
        evaluations,
        slices_of(plan, evaluations),
        taken_usd=taken,
        events=[*_group_sizes(plan, evaluations), _random_order(evaluations)],
    )
    return evaluations


def _group_sizes(plan: Plan, evaluations: list[Evaluation]) -> list[tuple[str, Mapping[str, Json]]]:
    """Which groups are whole is known from the plan alone, and whoever reads the run has no plan."""
    if plan.until is None:
        return []
    from proctor.stopping.rule import planned_group_sizes

    return [(GROUP_SIZES, planned_group_sizes(evaluations))]


def _random_order(evaluations: list[Evaluation]) -> tuple[str, Mapping[str, Json]]:
    """What is selected by hashes of the ids is asked in their order; all else in that of its file."""
    drawn = {
        item.benchmark_identity
        for item in evaluations
        if isinstance(item.samples, SelectedSamples) and not isinstance(item.samples, Filtered)
    }
    return RANDOM_ORDER, {"benchmarks": sorted(drawn)}
