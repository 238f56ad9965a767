"""A worker scores a run again, by the functions of `proctor rescore`.

A worker that is lost, or told to end, leaves it to another one, which scores what is not scored yet.
"""

from __future__ import annotations

import asyncio
import logging
from decimal import Decimal
from pathlib import Path

from msgspec.structs import replace

from proctor.domain.documents.rescored import Rescored
from proctor.domain.documents.rescoring import RescoringStatus
from proctor.domain.errors import ProctorError, StoreError
from proctor.domain.log_context import log_context
from proctor.domain.scope import Scope
from proctor.offline import confined
from proctor.runs.chunks.worker_context import WorkerContext
from proctor.runs.rescore import Rescoring, execute_rescoring, put_in_force
from proctor.runs.rescorings.requests import prepare_request
from proctor.stores.leases import LeaseLostError, work_on_first
from proctor.stores.patience import StoreUnreachableError
from proctor.stores.rescorings import RescoringQueue, RescoringRow
from proctor.stores.runs import RunStore

RENEW_SECONDS = 1.0
log = logging.getLogger("proctor.runs")


async def rescore_next(worker: WorkerContext) -> bool:
    """Carry out one that waits; False where none does."""
    return await work_on_first(RescoringQueue(worker.database).waiting, lambda one: carry_out(one, worker))


async def carry_out(rescoring_id: str, worker: WorkerContext) -> bool:
    """Score the run again, unless somebody else does; False where there was nothing to do."""
    queue = RescoringQueue(worker.database)
    row = await asyncio.to_thread(queue.lease, rescoring_id)
    if row is None:
        return False
    with log_context(**row.request.context, run_id=row.run_id, rescoring_id=row.id):
        try:
            await _Work(row, worker, queue).do()
        except LeaseLostError:
            log.info("rescoring %s was taken over by another worker", row.id)
    return True


class _Work:
    """A rescoring as this process carries it out."""

    def __init__(self, row: RescoringRow, worker: WorkerContext, queue: RescoringQueue) -> None:
        self._row, self._worker, self._queue = row, worker, queue
        self._database = worker.database.within(Scope(row.project))
        self._rescoring: Rescoring | None = None
        self._fault = row.fault
        self._is_cancelled = self._is_lost = False

    async def do(self) -> None:
        renewing = asyncio.create_task(self._renew())
        self._worker.on_stop(self._stop)
        result: Rescored | None = None
        try:
            result = await self._score()
        except StoreUnreachableError:
            await asyncio.to_thread(self._queue.release, self._row)  # it is begun again once the store answers
            raise
        except StoreError as fault:
            # When its lease has run out, which counts as one that was lost: what never gets better ends so.
            log.warning("rescoring %s will be begun again: %s", self._row.id, fault)
            self._fault = str(fault)
            await asyncio.to_thread(self._queue.renew, self._row, *self._progress, self._fault)
            return
        except asyncio.CancelledError:
            await asyncio.to_thread(self._queue.release, self._row)
            raise
        except LeaseLostError:
            raise
        except Exception as fault:
            if not isinstance(fault, ProctorError):
                log.exception("rescoring %s failed", self._row.id)
            said = str(fault) if isinstance(fault, ProctorError) else f"{type(fault).__name__}: {fault}"
            await self._end("failed", error=said)
            return
        finally:
            self._worker.on_stop(None)
            renewing.cancel()
            await asyncio.gather(renewing, return_exceptions=True)
        await self._conclude(result)

    async def _conclude(self, result: Rescored) -> None:
        found = self._rescoring
        if self._is_lost:
            raise LeaseLostError(self._row.id, "Rescoring")
        is_stopped = found is not None and found.stopping.is_set() and not found.out_of_money
        if result.is_complete:
            await self._end("completed", result=result)
        elif is_stopped and not self._is_cancelled:
            await asyncio.to_thread(self._queue.release, self._row)  # this worker ends; another goes on
        elif self._is_cancelled:
            await self._end("cancelled", result=result)
        else:
            faults = [f"{judge}: {said}" for judge, said in result.judge_faults.items()]
            faults += [f"{scorer} scored no response: {said}" for scorer, said in result.why_nothing.items()]
            reasons = [found.out_of_money] if found is not None and found.out_of_money else faults
            await self._end("failed", error="; ".join(reasons), result=result)

    async def _score(self) -> Rescored:
        row, asked = self._row, self._row.request.asked
        run = await asyncio.to_thread(RunStore(self._database).get, row.run_id)
        if asked.use:
            return await asyncio.to_thread(put_in_force, self._database, run.id, asked.use, asked.on)
        mine = await asyncio.to_thread(self._worker.context.of_project, row.project)
        here = replace(mine, folder=Path(row.request.folder))
        with confined(run.plan.offline or here.is_offline):
            found = await asyncio.to_thread(prepare_request, self._database, here, run, asked)
            if found is None:
                raise RuntimeError("neither scorers nor stored scores were asked for")
            found.ledger, found.hold = _Money(row, self._queue), row.lease
            found.on_progress, self._rescoring = self._hear, found
            if self._is_cancelled or self._worker.is_stopping:
                found.stopping.set()
            try:
                return await execute_rescoring(found, keep=asked.keep)
            finally:
                await asyncio.to_thread(found.close_budget)

    def _hear(self, done: int, total: int, fault: str | None) -> None:  # noqa: ARG002 - both are read when they are told
        self._fault = fault or self._fault

    @property
    def _progress(self) -> tuple[int, int]:
        found = self._rescoring
        return (self._row.done, self._row.total) if found is None else (found.done, found.total)

    def _stop(self) -> None:
        if self._rescoring is not None:
            self._rescoring.stopping.set()

    async def _renew(self) -> None:
        """Keep it, tell how far it is, and hear that it is cancelled, every second."""
        while True:
            await asyncio.sleep(RENEW_SECONDS)
            try:
                if not await asyncio.to_thread(self._queue.renew, self._row, *self._progress, self._fault):
                    self._is_cancelled = True
                    self._stop()
            except LeaseLostError:
                self._is_lost = True
                self._stop()
                return
            except StoreError as fault:
                log.debug("rescoring %s could not be renewed: %s", self._row.id, fault)

    async def _end(self, state: RescoringStatus, *, error: str | None = None, result: Rescored | None = None) -> None:
        spent = await asyncio.to_thread(self._spent_usd)
        if self._rescoring is not None:
            await asyncio.to_thread(self._queue.renew, self._row, *self._progress, self._fault)
        await asyncio.to_thread(lambda: self._queue.end(self._row, state, error=error, result=result, spent_usd=spent))
        log.info("rescoring_ended", extra={"status": state, "error": error})

    def _spent_usd(self) -> Decimal:
        """What its judges cost: where there is no limit nothing is set aside, and their replies say it."""
        found = self._rescoring
        if found is not None and found.cost_limit_usd is not None:
            return found.spent_usd
        return self._queue.spent_usd(self._row)


class _Money:
    """What judges of a rescoring may have cost, written down where another worker finds it."""

    def __init__(self, row: RescoringRow, queue: RescoringQueue) -> None:
        self._row, self._queue = row, queue

    def recorded_usd(self) -> Decimal:
        return self._queue.recorded_usd(self._row)

    def unanswered_usd(self) -> Decimal:
        return self._row.unanswered_usd

    def keep_unanswered(self, amount_usd: Decimal) -> None:
        self._queue.keep_unanswered(self._row, amount_usd)
