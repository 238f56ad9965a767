"""A worker without a broker: it takes the next thing to do from the database, and does it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from proctor.domain.errors import ProctorError, StoreError
from proctor.runs.chunks.execute_chunk import ChunkEnd, execute_leased
from proctor.runs.chunks.finish import finish_run
from proctor.runs.chunks.prepare import prepare_next
from proctor.runs.chunks.sweep import reclaim
from proctor.runs.chunks.worker_context import WorkerContext
from proctor.runs.rescorings.carry_out import rescore_next
from proctor.runs.submissions.marking import mark_next
from proctor.stores.chunks import ChunkStore
from proctor.stores.queue import QueueStore
from proctor.stores.workers import WorkerStore
from proctor.worker.housekeeping import pack_results
from proctor.worker.schedule import POLLED

SWEEP_SECONDS = 1.0
BEAT_SECONDS = 1.0
HOUSEKEEPING_SECONDS = 1.0
"""Between two looks for what is due."""
PACKING_SECONDS = 60.0
"""Between two looks for results to pack."""
IDLE_SECONDS = (0.05, 0.5)
"""The first pause when there is nothing to do, and the longest."""
log = logging.getLogger("proctor.worker")


async def work(worker: WorkerContext, stop: asyncio.Event) -> None:
    """Prepare runs, execute chunks and end runs, until told to stop; then requests in flight are finished.

    Any number of processes may do this on one database.
    """
    polling = _Polling(worker)
    beating = asyncio.create_task(polling.beat())
    doing = asyncio.create_task(polling.work(stop))
    keeping = asyncio.create_task(polling.keep_house())
    packing = asyncio.create_task(polling.pack())
    stopping = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait({doing, stopping}, return_when=asyncio.FIRST_COMPLETED)
        worker.stop()
        await doing
    finally:
        tasks = (doing, stopping, beating, keeping, packing)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await worker.close()
        await asyncio.to_thread(polling.leave)


class _Polling:
    def __init__(self, worker: WorkerContext) -> None:
        self._worker = worker
        self._chunks, self._queue = ChunkStore(worker.database), QueueStore(worker.database)
        self._workers = WorkerStore(worker.database)
        self._doing: str | None = None
        self._done = 0
        self._prepares_next, self._marks_next = False, False

    async def beat(self) -> None:
        """Tell of this worker, and take up what lost ones left."""
        await asyncio.to_thread(self._register)
        while True:
            done, self._done = self._done, 0
            try:
                await asyncio.to_thread(self._beat, done)
            except StoreError as fault:
                log.debug("the database cannot be used: %s", fault)
                self._done += done
            await asyncio.sleep(BEAT_SECONDS)

    async def keep_house(self) -> None:
        """What is to be done now and then; of several processes the first does it."""
        if self._worker.part.place:
            return
        loop = asyncio.get_running_loop()
        due = dict.fromkeys(POLLED, 0.0)
        while True:
            for name, task in POLLED.items():
                if loop.time() < due[name]:
                    continue
                try:
                    await task.work(self._worker)
                except ProctorError as fault:
                    log.warning("%s failed: %s", name.replace("_", " "), fault)
                except Exception:  # of ours: what else is to be done now and then is not given up for it
                    log.exception("%s failed", name.replace("_", " "))
                due[name] = loop.time() + task.period_seconds
            await asyncio.sleep(HOUSEKEEPING_SECONDS)

    async def pack(self) -> None:
        """Pack results of large runs, beside what is to be done now and then: it takes a while."""
        while not self._worker.part.place:
            try:
                if await pack_results(self._worker.database):
                    continue
            except StoreError as fault:
                log.debug("results were not packed: %s", fault)
            await asyncio.sleep(PACKING_SECONDS)

    def _register(self) -> None:
        try:
            self._workers.register(sorted(self._worker.pools), self._worker.name)
        except StoreError as fault:
            log.debug("the database cannot be used: %s", fault)

    def _beat(self, done: int) -> None:
        if not self._workers.beat(self._worker.name, self._doing, done):
            self._register()
        reclaim(self._worker.database)

    def leave(self) -> None:
        try:
            self._workers.leave(self._worker.name)
        except StoreError as fault:
            log.debug("the database cannot be used: %s", fault)

    async def work(self, stop: asyncio.Event) -> None:
        pause, longest = IDLE_SECONDS
        while not stop.is_set():
            try:
                is_busy = await self._next()
            except ProctorError as fault:
                log.warning("%s", fault)
                is_busy = False
            if is_busy:
                pause = IDLE_SECONDS[0]
                continue
            try:
                async with asyncio.timeout(pause):
                    await stop.wait()
            except TimeoutError:
                pause = min(2 * pause, longest)

    async def _next(self) -> bool:
        """Do the next thing there is; False when there is none."""
        worker = self._worker
        for run_id in await asyncio.to_thread(self._queue.to_finish, 1):
            with self._tell(f"ending run {run_id}"):
                end = partial(finish_run, is_to_be_packed=lambda: not worker.is_stopping)
                if await asyncio.to_thread(end, run_id, worker.database, worker.context.artifacts) is not None:
                    return True
        # In turns with chunks: neither keeps the other waiting for more than one.
        self._prepares_next = not self._prepares_next
        if self._prepares_next and await self._prepare():
            return True
        self._marks_next = not self._marks_next
        if self._marks_next and (await self._mark() or await self._rescore()):
            return True
        chunk = await asyncio.to_thread(self._chunks.lease_next, worker.pools, worker.left_to_others)
        if chunk is None:
            if not self._prepares_next and await self._prepare():
                return True
            return not self._marks_next and (await self._mark() or await self._rescore())
        with self._tell(f"run {chunk.run_id}, chunk {chunk.id}"):
            executed = await execute_leased(chunk, worker)
        if executed.end is ChunkEnd.FINISHED:
            self._done += 1
        return True

    async def _prepare(self) -> bool:
        with self._tell("preparing a run"):
            return await prepare_next(self._worker.context, self._worker.database)

    async def _mark(self) -> bool:
        with self._tell("marking a program"):
            return await mark_next(self._worker)

    async def _rescore(self) -> bool:
        with self._tell("scoring a run again"):
            return await rescore_next(self._worker)

    @contextmanager
    def _tell(self, doing: str) -> Iterator[None]:
        self._doing = doing
        try:
            yield
        finally:
            self._doing = None
