"""Execute one chunk: lease it, leave out what is recorded, ask and score the rest, and give it back or finish it."""

from __future__ import annotations

import asyncio
import logging
import time
from decimal import Decimal
from enum import StrEnum

from msgspec import Struct

from proctor.costs.shared_budget import SharedBudget
from proctor.domain.chunk import Chunk
from proctor.domain.errors import ProctorError, StoreError, UserError
from proctor.domain.log_context import log_context
from proctor.domain.measuring import measure
from proctor.domain.tracing import Attributes, span
from proctor.engine.budget import Budget, out_of_money
from proctor.engine.loop import ModelWork, Work, execute
from proctor.judges.asking import judging, lost
from proctor.offline import confined
from proctor.runs.asking import first_cause
from proctor.runs.chunks.heartbeat import ChunkHeartbeat
from proctor.runs.chunks.slices import trials_of_slice
from proctor.runs.chunks.worker_context import LEFT_SECONDS, REFUSED_SECONDS, ResolvedRun, WorkerContext
from proctor.stores.chunk_rows import lease_of
from proctor.stores.chunks import ChunkStore
from proctor.stores.events import context_of
from proctor.stores.journal import DatabaseJournal
from proctor.stores.leases import LeaseLostError
from proctor.stores.lost_chunks import LOSSES_OF_ONE_TRIAL
from proctor.stores.patience import patiently
from proctor.stores.queue import QueueStore
from proctor.stores.run_money import ChunkMoney
from proctor.stores.runs import RunStore
from proctor.stores.scoping import project_of
from proctor.stores.usage import add_worker_time
from proctor.stores.workers import WorkerStore

REFUSALS = 3
"""How often a chunk could not be executed before its run fails, at least, where it is not for a mistake."""
PAUSE_AFTER_REFUSAL_SECONDS = 2.0
log = logging.getLogger("proctor.runs")


class ChunkEnd(StrEnum):
    NOT_LEASED = "not leased"
    """Another worker has it, or nobody wants it any more."""
    FINISHED = "finished"
    GIVEN_BACK = "given back"
    LEFT_TO_OTHERS = "left to others"
    """This process has no part of the plan's concurrency."""
    REFUSED = "refused"
    """It could not be executed here."""
    LOST = "lost"
    """Another worker took it over meanwhile."""


class ExecutedChunk(Struct, frozen=True):
    end: ChunkEnd
    run_id: str | None = None
    is_last: bool = False
    """Whether no chunk of the run is left: it waits to be finished."""


async def execute_chunk(chunk_id: int, worker: WorkerContext) -> ExecutedChunk:
    """Execute the chunk of its pool that is most due, this one or another's; after any end it may be called again."""
    chunk = await asyncio.to_thread(ChunkStore(worker.database).lease_announced, chunk_id, worker.left_to_others)
    if chunk is None:
        return ExecutedChunk(ChunkEnd.NOT_LEASED)
    return await execute_leased(chunk, worker)


async def execute_leased(chunk: Chunk, worker: WorkerContext) -> ExecutedChunk:
    """The same for a chunk that this process has leased already."""
    began = time.monotonic()
    told = await asyncio.to_thread(patiently, lambda: context_of(worker.database, chunk.run_id))
    named: Attributes = {"proctor.run.id": chunk.run_id, "proctor.chunk.id": chunk.id, "proctor.pool": chunk.pool.value}
    with (
        log_context(**told, run_id=chunk.run_id, chunk=str(chunk.id)),
        span("execute chunk", named, parent=told.get("traceparent")),
    ):
        executed = await _execute_leased(chunk, worker)
        seconds = round(time.monotonic() - began, 3)
        measure("chunk_seconds", seconds, pool=chunk.pool.value, end=executed.end.value)
        if executed.end is not ChunkEnd.NOT_LEASED:
            await asyncio.to_thread(_add_worker_time, worker, chunk.run_id, seconds)
        log.info("chunk_ended", extra={"end": executed.end.value, "seconds": seconds, "trials": chunk.count})
    return executed


def _add_worker_time(worker: WorkerContext, run_id: str, seconds: float) -> None:
    """For the bill of the machines; a few seconds that are not counted are no reason to fail."""
    try:
        add_worker_time(worker.database, run_id, seconds)
    except StoreError as fault:
        log.debug("the time of a chunk was not counted: %s", fault)


async def _execute_leased(chunk: Chunk, worker: WorkerContext) -> ExecutedChunk:
    store = ChunkStore(worker.database)
    failure: Exception | None = None
    with ChunkHeartbeat(chunk, store, worker.is_stuck) as heartbeat:
        worker.on_stop(heartbeat.stopping.set)
        try:
            await _execute(chunk, worker, heartbeat)
        except (LeaseLostError, asyncio.CancelledError):
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                if not heartbeat.is_lost:  # the worker itself is told to end
                    await asyncio.to_thread(_give_back, store, chunk, heartbeat)
                    raise
                task.uncancel()
            log.info("chunk %s was taken over by another worker", chunk.id)
            return ExecutedChunk(ChunkEnd.LOST, chunk.run_id)
        except Exception as fault:  # noqa: BLE001 - a chunk that cannot be executed must not end its worker
            failure = fault
        finally:
            worker.on_stop(None)
    if failure is not None:
        return await _refuse(failure, chunk, worker, heartbeat)
    try:
        is_whole = heartbeat.tally.done >= chunk.count and not heartbeat.is_left_to_others
        if is_whole:
            is_last = await asyncio.to_thread(
                patiently, lambda: store.finish(lease_of(chunk), heartbeat.tally, heartbeat.unspent_pico_usd())
            )
        else:
            is_last = await asyncio.to_thread(_give_back, store, chunk, heartbeat)
    except LeaseLostError:
        return ExecutedChunk(ChunkEnd.LOST, chunk.run_id)
    if is_whole and not is_last:
        await asyncio.to_thread(_look, chunk, worker)
    end = ChunkEnd.LEFT_TO_OTHERS if heartbeat.is_left_to_others else ChunkEnd.GIVEN_BACK
    return ExecutedChunk(ChunkEnd.FINISHED if is_whole else end, chunk.run_id, is_last)


def _look(chunk: Chunk, worker: WorkerContext) -> None:
    """Whether enough is known of the run, where it has a rule that says so."""
    run = RunStore(worker.database).get(chunk.run_id)
    if run.has_stop_rule:
        from proctor.runs.chunks.stop_looking import look  # few runs have a rule, and it is not free to import

        try:
            look(run, worker.database)
        except StoreError as fault:  # whoever ends the next chunk looks again
            log.warning("whether enough is known of run %s was not seen: %s", run.id, fault)


def _give_back(store: ChunkStore, chunk: Chunk, heartbeat: ChunkHeartbeat) -> bool:
    lease, unspent = lease_of(chunk), heartbeat.unspent_pico_usd()
    return patiently(lambda: store.give_back(lease, heartbeat.tally, unspent, is_done_with=heartbeat.is_given_up))


async def _execute(chunk: Chunk, worker: WorkerContext, heartbeat: ChunkHeartbeat) -> None:
    run = await asyncio.to_thread(RunStore(worker.database).get, chunk.run_id)
    resolved = await worker.resolved(run)
    evaluation = resolved.evaluations[chunk.evaluation_id]
    if not resolved.concurrency_of(evaluation):
        heartbeat.is_left_to_others, heartbeat.tally = True, chunk.tally
        worker.leave(run.id, LEFT_SECONDS)
        return
    heartbeat.watch(evaluation.label)
    if (minutes := resolved.plan.limits.minutes) is not None:
        queue = QueueStore(worker.database)
        queued = await asyncio.to_thread(queue.get, run.id)
        left = minutes * 60 - (0.0 if queued is None else queued.seconds)
        reason = f"the time limit of {minutes:g} minutes was reached"
        heartbeat.end_after(left, lambda: queue.stop(run.id, reason))
    journal = DatabaseJournal(
        worker.database,
        resolved.versions,
        run.month,
        {} if evaluation.price is None else {evaluation.id: evaluation.price.basis},
        lease_of(chunk),
    )
    try:
        with confined(resolved.is_offline):
            if chunk.count == 1 and chunk.lost_leases >= LOSSES_OF_ONE_TRIAL:
                from proctor.runs.chunks.poison import end_trial

                await end_trial(chunk, evaluation, journal, heartbeat.observe)
                return
            given_up = await _ask(chunk, resolved, worker, journal, heartbeat)
    except BaseExceptionGroup as group:
        raise first_cause(group) from group
    finally:
        await journal.close()
    if given_up:
        await asyncio.to_thread(patiently, lambda: _tell_given_up(worker, resolved, given_up))


async def _ask(
    chunk: Chunk, resolved: ResolvedRun, worker: WorkerContext, journal: DatabaseJournal, heartbeat: ChunkHeartbeat
) -> dict[str, str]:
    """Every trial that can be finished is; gives the model and the judges that were given up, and why."""
    evaluation, limits = resolved.evaluations[chunk.evaluation_id], resolved.plan.limits
    concurrency = min(resolved.concurrency_of(evaluation), chunk.count)
    budget = _budget(chunk, resolved, worker, heartbeat)
    # A judge's kept answers are the project's own, as the run's are.
    scope = await asyncio.to_thread(project_of, worker.database, [evaluation.id])
    async with judging(
        evaluation.scorers,
        worker.database.within(scope),
        heartbeat.stopping,
        heartbeat.observe,
        use_cache=resolved.plan.cache,
        budget=budget,
        rates=resolved.rates,
    ) as judges:
        work = ModelWork(
            label=evaluation.label,
            model=evaluation.model,
            work=[Work(evaluation.id, trials_of_slice(evaluation, chunk.position, chunk.count), evaluation.scorers)],
            concurrency=concurrency,
            retries=limits.retries,
            timeout_seconds=limits.timeout_seconds,
            price=evaluation.price,
            rate=resolved.rates.of(evaluation.model),
            breaker=resolved.rates.breaker_of(evaluation.model),
            limit=resolved.limit_of(evaluation),
        )
        given_up = await execute([work], journal, stopping=heartbeat.stopping, observe=heartbeat.observe, budget=budget)
        return given_up | lost(judges)


def _budget(chunk: Chunk, resolved: ResolvedRun, worker: WorkerContext, heartbeat: ChunkHeartbeat) -> Budget | None:
    """This chunk's part of the plan's cap, which all chunks keep together."""
    cap = resolved.plan.limits.cost_usd
    if cap is None:
        return None

    def stop(spent_usd: Decimal, next_usd: Decimal) -> None:
        reason = out_of_money(cap, spent_usd, next_usd)
        patiently(lambda: QueueStore(worker.database).stop(chunk.run_id, reason))

    budget = SharedBudget(cap, ChunkMoney(worker.database, chunk, cap), heartbeat.stopping, stop)
    heartbeat.unspent_usd = lambda: budget.unspent_usd
    return budget


def _tell_given_up(worker: WorkerContext, resolved: ResolvedRun, reasons: dict[str, str]) -> None:
    """Nobody begins a chunk of a model that was given up."""
    queue = QueueStore(worker.database)
    queue.give_up(resolved.run.id, reasons)
    ids = [item.id for item in resolved.evaluations.values() if item.label in reasons]
    if ids:
        queue.drop_waiting(resolved.run.id, ids)


async def _refuse(fault: Exception, chunk: Chunk, worker: WorkerContext, heartbeat: ChunkHeartbeat) -> ExecutedChunk:
    """Leave it to another worker; when as many as there are could not execute it, the run fails with the reason."""
    if not isinstance(fault, ProctorError):
        log.error("chunk %s could not be executed", chunk.id, exc_info=fault)
    reason = str(fault) if isinstance(fault, ProctorError) else f"{type(fault).__name__}: {fault}"

    def give_back() -> bool:
        store, queue = ChunkStore(worker.database), QueueStore(worker.database)
        workers = WorkerStore(worker.database).alive(chunk.pool)
        if workers > 1:
            worker.leave(chunk.run_id, REFUSED_SECONDS)
        # A mistake stays one, however often the same worker tries.
        enough = workers if isinstance(fault, UserError) else max(REFUSALS, workers)
        if not isinstance(fault, StoreError) and store.refusals(chunk.id) + 1 >= enough:
            queue.give_up(chunk.run_id, {"": reason})
            queue.drop_waiting(chunk.run_id, [chunk.evaluation_id])
            queue.drop_waiting(chunk.run_id)
        return store.give_back(
            lease_of(chunk),
            heartbeat.tally,
            heartbeat.unspent_pico_usd(),
            refusal=reason,
            wait_seconds=0.0 if workers > 1 and not isinstance(fault, StoreError) else PAUSE_AFTER_REFUSAL_SECONDS,
        )

    try:
        is_last = await asyncio.to_thread(patiently, give_back)
    except LeaseLostError:
        return ExecutedChunk(ChunkEnd.LOST, chunk.run_id)
    return ExecutedChunk(ChunkEnd.REFUSED, chunk.run_id, is_last)
