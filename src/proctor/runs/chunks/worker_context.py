"""What a worker process executes chunks with: what it resolved for one chunk serves the next ones of the run."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping

import orjson
from msgspec import Struct
from msgspec.structs import replace

from proctor.domain.chunk import Pool
from proctor.domain.errors import RunError, UserError
from proctor.domain.evaluation import Evaluation
from proctor.domain.event import Event
from proctor.domain.plan import Limits, Plan
from proctor.domain.scope import Scope
from proctor.engine.limiter import AdaptiveLimit
from proctor.engine.ratelimit import MemoryLimits, RunLimits, RunRateLimits
from proctor.offline import confined
from proctor.runs.asking import concurrency_of, numbered, versions_of
from proctor.runs.chunks.content import restored
from proctor.runs.chunks.slices import pool_of
from proctor.runs.equipment import equipped
from proctor.runs.replay import bind_replays
from proctor.runs.resolve import PlanContext, close_models, resolve
from proctor.stores.database import Database
from proctor.stores.leases import this_process
from proctor.stores.queue import QueueStore
from proctor.stores.runs import RunRow, RunStore

REFUSED_SECONDS = 30.0
"""A run whose chunk could not be executed here is left to others for so long, where there are others."""
LEFT_SECONDS = 300.0
"""And one of which other processes have all that the plan allows at once."""
RUNS_KEPT = 4
"""Resolved runs that a worker keeps; runs take turns, and resolving reads all of their data."""


class Part(Struct, frozen=True):
    """This process is one of several that divide a plan's limits among themselves."""

    place: int = 0
    of: int = 1

    def whole(self, total: int) -> int:
        """Its part; the parts of all are the total, and those of the last may be none."""
        return total // self.of + (self.place < total % self.of)

    def rate(self, total: float, concurrency: int) -> float:
        """The same of what is measured, divided among those who have a part of the concurrency."""
        return total / min(self.of, concurrency)


class WorkerContext:
    """Use it from one event loop, and close it there."""

    def __init__(
        self,
        database: Database,
        context: PlanContext,
        *,
        pools: Iterable[Pool] = tuple(Pool),
        name: str | None = None,
        part: Part | None = None,
        limits: RunLimits | None = None,
        is_stuck: Callable[[], None] | None = None,
    ) -> None:
        """`part` is this process's of a plan's limits, all where it is left out; `limits` are such that all share.

        `is_stuck` is called, in another thread, when the event loop has stood still for minutes.
        """
        self.database = database
        self.context = context
        self.pools = frozenset(pools)
        self.name = name or this_process()
        self.part = part or Part()
        self.limits = limits or _SharedOut(self.part)
        self.is_stuck = is_stuck
        self._runs: OrderedDict[str, ResolvedRun] = OrderedDict()
        self._left: dict[str, float] = {}
        self._opening = asyncio.Lock()
        self._stop: Callable[[], None] | None = None
        self.is_stopping = False

    async def resolved(self, run: RunRow) -> ResolvedRun:
        """The run, ready to be executed; raises what keeps this machine from it."""
        async with self._opening:
            found = self._runs.get(run.id)
            if found is not None and found.plan_text == run.plan_text:
                self._runs.move_to_end(run.id)
                return found
            await self.forget(run.id)
            while len(self._runs) >= RUNS_KEPT:
                await self.forget(next(iter(self._runs)))
            opened = ResolvedRun(run, self)
            await opened.open()
            self._runs[run.id] = opened
            return opened

    def leave(self, run_id: str, seconds: float) -> None:
        """Execute nothing of this run for so long: others do."""
        self._left[run_id] = time.monotonic() + seconds

    @property
    def left_to_others(self) -> frozenset[str]:
        """The runs of which nothing is executed here now."""
        now = time.monotonic()
        self._left = {run_id: until for run_id, until in self._left.items() if until > now}
        return frozenset(self._left)

    def stop(self) -> None:
        """Send nothing more: what is in flight is finished, and the chunk given back."""
        self.is_stopping = True
        if self._stop is not None:
            self._stop()

    def on_stop(self, call: Callable[[], None] | None) -> None:
        """What to call when the worker is told to stop; called at once when it was."""
        self._stop = call
        if self.is_stopping and call is not None:
            call()

    async def forget(self, run_id: str) -> None:
        """Let go of what is kept of a run."""
        found = self._runs.pop(run_id, None)
        if found is not None:
            await found.close()

    async def close(self) -> None:
        for run_id in list(self._runs):
            await self.forget(run_id)


class _SharedOut:
    """Limits of this process alone: its part of what a plan allows to all."""

    def __init__(self, part: Part) -> None:
        self._part, self._limits = part, MemoryLimits()

    def of_run(self, run_id: str, limits: Limits) -> RunRateLimits:
        given = {
            "requests_per_minute": limits.requests_per_minute,
            "tokens_per_minute": limits.tokens_per_minute,
        }
        parts = {
            name: None if value is None else self._part.rate(value, limits.concurrency) for name, value in given.items()
        }
        return self._limits.of_run(run_id, limits.model_copy(update=parts))


class _Opened(Struct, frozen=True):
    evaluations: Mapping[int, Evaluation]
    """By their row in the store; those that this worker's pools are for."""


class ResolvedRun:
    """A run as this process executes it: its models, data and sandbox, opened once for all its chunks here."""

    def __init__(self, run: RunRow, worker: WorkerContext) -> None:
        self.run = run
        self.plan_text = run.plan_text
        self.plan: Plan = run.plan
        self._worker = worker
        self._limits: dict[str, AdaptiveLimit] = {}
        self._closing = asyncio.Event()
        self._opening_task: asyncio.Task[None] | None = None
        self.evaluations: Mapping[int, Evaluation] = {}
        self.versions: dict[int, dict[str, str]] = {}
        self.rates: RunRateLimits = worker.limits.of_run(run.id, self.plan.limits)

    @property
    def is_offline(self) -> bool:
        return self.plan.offline or self._worker.context.is_offline

    async def open(self) -> None:
        """What is opened is closed by the task that opened it, whichever chunk is executed then."""
        ready: asyncio.Future[_Opened] = asyncio.get_running_loop().create_future()
        self._opening_task = asyncio.create_task(self._keep(ready))
        try:
            opened = await ready
        except BaseException:
            self._opening_task.cancel()
            await asyncio.gather(self._opening_task, return_exceptions=True)
            raise
        self.evaluations = opened.evaluations
        self.versions = versions_of(list(opened.evaluations.values()))

    async def _keep(self, ready: asyncio.Future[_Opened]) -> None:
        evaluations: list[Evaluation] = []
        try:
            queued = await asyncio.to_thread(QueueStore(self._worker.database).get, self.run.id)
            here = replace(
                await asyncio.to_thread(self._worker.context.of_project, self.run.project),
                folder=self.run.folder,
                data=self.run.data or self._worker.context.data,
            )
            with confined(self.is_offline), restored({} if queued is None else queued.content, here) as here:
                every = await asyncio.to_thread(self._resolve, here)
                evaluations = every
                mine = [item for item in every if pool_of(item) in self._worker.pools]
                context = self._worker.context
                async with equipped(
                    self.plan,
                    mine,
                    self._closing,
                    _unheard,
                    record=_unrecorded,
                    artifacts=context.artifacts,
                    home=context.home,
                ) as mine:
                    ready.set_result(_Opened({item.id: item for item in mine}))
                    await self._closing.wait()
        except BaseException as error:
            if ready.done():
                raise
            ready.set_exception(error)
        finally:
            await close_models(evaluations)

    def _resolve(self, here: PlanContext) -> list[Evaluation]:
        run = self.run
        database = self._worker.database.within(Scope(run.project))
        rows = RunStore(database).evaluation_rows(run.id)
        evaluations = numbered(resolve(self.plan, here, database), rows)
        for item, row in zip(evaluations, rows, strict=True):
            if item.benchmark_identity != row["digest"]:
                raise UserError(
                    f"{item.benchmark.name} is not the same here as where run {run.id} was prepared: "
                    "its files or its data differ, or another version of Proctor reads them."
                )
            mine = {scorer.name: scorer.version for scorer in item.scorers}
            if mine != orjson.loads(row["scorers"]):
                raise RunError(
                    f"This worker scores {item.benchmark.name} otherwise than run {run.id} was prepared for: "
                    "it is of another version of Proctor."
                )
        bind_replays(evaluations, database)
        return evaluations

    def limit_of(self, evaluation: Evaluation) -> AdaptiveLimit:
        """The requests in flight to a model: what one chunk learned holds for the next."""
        ceiling = self.concurrency_of(evaluation)
        return self._limits.setdefault(f"{evaluation.label}\0{ceiling}", AdaptiveLimit(ceiling))

    def concurrency_of(self, evaluation: Evaluation) -> int:
        """This process's part of what the plan allows; 0 where others have all of it."""
        return self._worker.part.whole(concurrency_of(self.plan.limits, evaluation.model))

    async def close(self) -> None:
        self._closing.set()
        if self._opening_task is not None:
            await asyncio.gather(self._opening_task, return_exceptions=True)


def _unheard(_: Event) -> None:
    return


def _unrecorded(_: str, __: object) -> None:
    """What was tried of a sandbox is noted by whoever executes a whole run; workers try theirs each."""
