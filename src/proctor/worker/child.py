"""A worker's child process: one event loop in a thread of its own, in which all of its tasks are done.

What is opened for one task serves the next ones. Beside the tasks it tells the database that it lives, and sweeps.
"""

from __future__ import annotations

import asyncio
import logging
import os
import random
import threading
from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from proctor.accounts.provider_keys import ProjectKeys
from proctor.domain.chunk import Chunk, Pool, Priority
from proctor.domain.errors import ProctorError, StoreError
from proctor.runs.chunks.execute_chunk import ChunkEnd, execute_chunk
from proctor.runs.chunks.finish import finish_run
from proctor.runs.chunks.prepare import prepare, prepare_next
from proctor.runs.chunks.sweep import reclaim
from proctor.runs.chunks.worker_context import WorkerContext
from proctor.runs.packing import stoppable
from proctor.runs.rescorings.carry_out import rescore_next
from proctor.runs.resolve import PlanContext
from proctor.runs.submissions.marking import mark_next
from proctor.stores.chunks import ChunkStore
from proctor.stores.database import Database, open_database
from proctor.stores.model_lists import ModelListStore
from proctor.stores.patience import StoreUnreachableError
from proctor.stores.queue import QueueStore
from proctor.stores.rescorings import RescoringQueue
from proctor.stores.submission_queue import MarkingLeases
from proctor.stores.workers import WorkerStore
from proctor.worker.notifier import MARKING, RESCORING, WorkerNotifier, queue_of
from proctor.worker.process import STUCK, loop_factory
from proctor.worker.redis_limits import RedisLimits

if TYPE_CHECKING:
    from proctor.worker.parent import EndingNews
    from proctor.worker.schedule import Scheduled

T = TypeVar("T")
HEARTBEAT_SECONDS = 1.0
SWEEP_SECONDS = 1.5
"""How often somebody looks for what is lost; among all workers about once."""
AGAIN_SECONDS = 3.0
"""A message that nobody has followed by then is repeated."""
MESSAGES_FOR_EACH = 3
"""Chunks that the broker holds for each worker of a pool: what is urgent does not queue behind more."""
MAX_MESSAGES = 20
"""Programs to mark that the broker holds at most, and runs to score again."""
AWAY_SECONDS = 0.5
LEFT_TO_OTHERS_SECONDS = 1.0
"""Who leaves a run to others follows none of its messages for so long, or hardly any would be left to those."""
SCHEDULED_END_SECONDS = 10.0
"""So long a worker that is told to end goes on with what is done on a schedule; another one does it again."""
CLOSE_SECONDS = 20.0
CLAIM = "proctor:claims:"
log = logging.getLogger("proctor.worker")


class WorkerConfig(Struct, frozen=True):
    """What a worker was started with; its children inherit it."""

    database_url: str
    broker_url: str
    pools: tuple[Pool, ...]
    context: PlanContext
    traces_url: str | None = None
    retention_days: float | None = None
    """After how many days runs go of projects that say nothing of it; None keeps them."""


class Child:
    """Start it in the process that executes; `run` may then be called from that process's main thread."""

    def __init__(self, config: WorkerConfig, notifier: WorkerNotifier, ending: EndingNews) -> None:
        self.context, self.retention_days = config.context, config.retention_days
        self.notifier = notifier
        self._ending = ending
        self._config = config
        self._loop = (loop_factory() or asyncio.new_event_loop)()
        self._thread = threading.Thread(target=self._loop.run_forever, name="worker", daemon=True)
        self._doing: str | None = None
        self._chunks_done = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_announcing = self._is_ending = False
        self._unsent: list[Chunk] = []

    def start(self) -> None:
        """Open the database and begin to tell that this process lives."""
        self._thread.start()
        self.run("starting", self._open)

    async def _open(self) -> None:
        self.database: Database = await asyncio.to_thread(open_database, self._config.database_url)
        keys = ProjectKeys(self.database, self.context.environment)
        self.context = replace(self.context, project_keys=keys, lists=ModelListStore(self.database))
        self._limits = RedisLimits(self._config.broker_url)
        self._worker = WorkerContext(
            self.database,
            self.context,
            pools=self._config.pools,
            limits=self._limits,
            is_stuck=lambda: os._exit(STUCK),  # Celery starts another child in its place
        )
        self._workers = WorkerStore(self.database)
        self._ending.follow(self._loop, self._end)
        await self._limits.start()
        self._begin(self._beat_forever())
        self._begin(self._sweep_forever())

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def run(self, doing: str, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Do the work in the event loop; whatever interrupts the wait cancels it."""
        self._doing = doing
        future = asyncio.run_coroutine_threadsafe(work(), self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise
        finally:
            self._doing = None
            if self._is_ending:
                self._ending.let_go()

    def _end(self) -> None:
        self._is_ending = True
        self._worker.stop()
        if self._doing is None:
            self._ending.let_go()

    def close(self) -> None:
        """Let go of everything; waits no longer than it must."""
        future = asyncio.run_coroutine_threadsafe(self._close(), self._loop)
        try:
            future.result(CLOSE_SECONDS)
        except Exception:
            log.debug("the worker did not close in good order", exc_info=True)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(CLOSE_SECONDS)

    async def _close(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        try:
            await asyncio.to_thread(self._workers.leave, self._worker.name)
        except StoreError as fault:
            log.debug("the database cannot be told that this worker ends: %s", fault)
        await self._worker.close()
        await self._limits.close()
        self.database.dispose()

    # Tasks

    async def execute(self, chunk_id: int) -> None:
        if self._worker.is_stopping:
            return
        executed = await self._patiently(lambda: execute_chunk(chunk_id, self._worker))
        if executed is None:
            return
        if executed.end is ChunkEnd.NOT_LEASED:
            if self._worker.left_to_others:
                await asyncio.sleep(LEFT_TO_OTHERS_SECONDS)
            return
        self._chunks_done += executed.end is ChunkEnd.FINISHED
        if executed.is_last and executed.run_id is not None:
            await self.finish(executed.run_id)  # a message would wait behind chunks of other runs
        else:
            self._begin(self._announce())

    # A message says that there is something to do. Messages of one project may wait before those of another, so what
    # is done is what is due when one is read.

    async def prepare(self, run_id: str) -> None:
        async def work() -> bool:
            is_done = await prepare_next(self.context, self.database)
            return is_done or await prepare(run_id, self.context, self.database)

        if await self._patiently(work):
            await self.sweep()

    async def finish(self, run_id: str) -> None:
        def end(go_on: Callable[[], bool]) -> None:
            finish_run(
                run_id,
                self.database,
                self.context.artifacts,
                is_to_be_packed=lambda: go_on() and not self._worker.is_stopping,
            )

        await self._patiently(lambda: stoppable(end))

    async def mark(self, _: str) -> None:
        await self._patiently(lambda: mark_next(self._worker))

    async def rescore(self, _: str) -> None:
        await self._patiently(lambda: rescore_next(self._worker))

    async def do_scheduled(self, name: str, scheduled: Scheduled) -> None:
        """Do it unless another worker has within its period."""
        if not await self._limits.claim(f"{CLAIM}{name}", 0.9 * scheduled.period_seconds):
            return
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(None) as limit:
                self._worker.on_stop(lambda: limit.reschedule(loop.time() + SCHEDULED_END_SECONDS))
                await self._patiently(lambda: scheduled.work(self))
        except TimeoutError:
            if not limit.expired():
                raise
            log.info("%s was left off, because this worker ends", name.replace("_", " "))
        finally:
            self._worker.on_stop(None)

    async def _patiently(self, work: Callable[[], Awaitable[T]]) -> T | None:
        """Again and again while the database is away: what was announced is begun as soon as it is back.

        None where this worker ends meanwhile: others hear of it from whoever sweeps.
        """
        while True:
            try:
                return await work()
            except StoreUnreachableError:
                if self._worker.is_stopping:
                    return None
                await asyncio.sleep(AWAY_SECONDS)

    # What it does by itself

    async def _beat_forever(self) -> None:
        await self._patiently(self._register)
        while True:
            done, self._chunks_done = self._chunks_done, 0
            try:
                if not await asyncio.to_thread(self._workers.beat, self._worker.name, self._doing, done):
                    await self._register()
            except ProctorError as fault:
                self._chunks_done += done
                log.debug("the database cannot be told: %s", fault)
            await asyncio.sleep(HEARTBEAT_SECONDS)

    async def _register(self) -> None:
        await asyncio.to_thread(self._workers.register, self._config.pools, self._worker.name)

    async def _sweep_forever(self) -> None:
        while True:
            await asyncio.sleep(SWEEP_SECONDS * random.uniform(0.5, 1.0))
            try:
                if await self._limits.claim(f"{CLAIM}sweep", SWEEP_SECONDS * 0.6):
                    await self.sweep()
            except ProctorError as fault:
                log.debug("nobody could be told what is to be done: %s", fault)

    async def sweep(self) -> None:
        """Take back what lost workers had, and announce everything that waits for somebody."""
        await asyncio.to_thread(reclaim, self.database)
        await asyncio.to_thread(self._announce_steps)
        await self._announce_others()
        await self._announce()

    def _announce_steps(self) -> None:
        queue = QueueStore(self.database)
        for run_id in queue.announce(queue.to_prepare(), AGAIN_SECONDS):
            self.notifier.prepare(run_id)
        for run_id in queue.announce(queue.to_finish(), AGAIN_SECONDS):
            self.notifier.finish(run_id)

    async def _announce_others(self) -> None:
        """For programs and rescorings that wait and that the broker does not hold already."""
        programs, rescorings = await self._limits.lengths([MARKING, RESCORING])
        for program_id in (await asyncio.to_thread(MarkingLeases(self.database).waiting, MAX_MESSAGES))[programs:]:
            await asyncio.to_thread(self.notifier.mark, program_id)
        for rescoring_id in (await asyncio.to_thread(RescoringQueue(self.database).waiting, MAX_MESSAGES))[rescorings:]:
            await asyncio.to_thread(self.notifier.rescore, rescoring_id)

    async def _announce(self) -> None:
        """Announce chunks, a few for each worker that lives; once at a time in this process."""
        if self._is_announcing:
            return
        self._is_announcing = True
        try:
            # A message that still waits is not repeated: workers would be busy with what is done already.
            queues = [[queue_of(pool, priority) for priority in Priority] for pool in Pool]
            lengths = iter(await self._limits.lengths([name for names in queues for name in names]))
            queued = {pool: sum(next(lengths) for _ in names) for pool, names in zip(Pool, queues, strict=True)}
            await asyncio.to_thread(self._announce_waiting, queued)
        except ProctorError as fault:
            log.debug("chunks could not be announced: %s", fault)
        finally:
            self._is_announcing = False

    def _announce_waiting(self, queued: dict[Pool, int]) -> None:
        unsent, self._unsent = self._unsent, []
        if not self._notify_all(unsent):
            return
        alive = [row for row in self._workers.all() if row.is_alive]
        for pool in Pool:
            count = sum(pool in row.pools for row in alive)
            if count:
                found = ChunkStore(self.database).announce(
                    [pool], again_seconds=AGAIN_SECONDS, limit=MESSAGES_FOR_EACH * count, queued=queued[pool]
                )
                if not self._notify_all(found):
                    return

    def _notify_all(self, chunks: list[Chunk]) -> bool:
        """False when the broker is away: those that it was not told of are kept for the next time."""
        for place, chunk in enumerate(chunks):
            if not self.notifier.chunk(chunk):
                self._unsent = chunks[place:]
                return False
        return True
