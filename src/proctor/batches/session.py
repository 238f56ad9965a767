"""What handing in and collecting a model's batches have in common: tries, doubt, and the end of both."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from decimal import Decimal
from typing import TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from proctor.domain.errors import ModelError, RateLimitedError
from proctor.domain.event import BatchDelayed, FaultSeen, ModelGivenUp, Observer
from proctor.domain.journal import Journal
from proctor.engine.budget import Budget
from proctor.engine.recording import Recorder
from proctor.engine.retry import RetryPolicy, retry
from proctor.models.batching import BatchApi
from proctor.stores.batches import BatchStore, StoredBatch

T = TypeVar("T")
MAX_TRIES = 20
"""Tries in a row before a batch that was handed in is left for a later execution: about a quarter of an hour."""
DOUBT_SECONDS = 30.0


class BatchSession(Struct):
    """One model's batches in one execution."""

    label: str
    api: BatchApi
    store: BatchStore
    journal: Journal
    recorder: Recorder
    retries: int
    stopping: asyncio.Event
    observe: Observer
    budget: Budget | None
    given_up: str | None = None
    ended: list[tuple[int, str]] = field(default_factory=list)
    """Batches whose answers are with the recorder, and how they ended."""

    @property
    def is_closed(self) -> bool:
        return self.given_up is not None or self.stopping.is_set()

    def give_up(self, error: ModelError) -> None:
        """Hand in nothing more; what is with the provider stays there for the next execution."""
        if self.given_up is None:
            self.given_up = self._told(error)
            self.observe(ModelGivenUp(self.label, self.given_up))

    async def pause(self, seconds: float) -> bool:
        """Wait; True when the run stops first."""
        try:
            async with asyncio.timeout(seconds):
                return await self.stopping.wait()
        except TimeoutError:
            return False

    async def note_fault(self, error: ModelError, wait_seconds: float, tries: int, most: int) -> None:
        """Tell of a fault and of the next try, which comes after the wait."""
        self.observe(FaultSeen(self.label, self._told(error), isinstance(error, RateLimitedError)))
        self.observe(BatchDelayed(self.label, f"the batch API is asked again after a fault ({tries} of {most})"))
        await self.pause(wait_seconds)

    def _told(self, error: ModelError) -> str:
        return str(error).removeprefix(f"{self.label}: ")  # adapters name the model too, and once is enough

    async def persist(self, call: Callable[[], Awaitable[T]], retries: int) -> T:
        """Call until it works; the error of a call that never does, or that the run's end cuts short, is raised."""

        async def wait(error: ModelError, seconds: float, tries: int) -> None:
            if self.stopping.is_set():
                raise error
            await self.note_fault(error, seconds, tries, retries)

        return await retry(call, RetryPolicy(retries), wait)

    async def locate(self, batch: StoredBatch) -> StoredBatch | None:
        """The batch with the provider's name for it; None when the provider never had it, or when the run stops.

        When nobody can say, the error is raised and what was set aside for the batch counts in full.
        """
        if batch.remote_id is not None:
            return batch
        members = await asyncio.to_thread(self.store.trial_ids, batch.id)
        while not self.stopping.is_set():
            known = await asyncio.to_thread(self.store.remote_ids)
            try:
                found = await self.persist(
                    lambda known=known: self.api.search(  # type: ignore[misc]
                        batch.token, batch.created_at, batch.requests, known, members.__contains__
                    ),
                    MAX_TRIES,
                )
            except ModelError:
                self.settle(batch.reserved_usd, batch.reserved_usd)
                raise
            if found.remote_id is not None:
                await asyncio.to_thread(self.store.handed_in, batch.id, found.remote_id)
                return replace(batch, remote_id=found.remote_id)
            if found.is_certain:
                await asyncio.to_thread(self.store.forget, batch.id)
                return None
            self.observe(BatchDelayed(self.label, "an earlier order may be among the provider's unfinished batches"))
            await self.pause(DOUBT_SECONDS)
        return None

    def settle(self, reserved_usd: Decimal, spent_usd: Decimal) -> None:
        if self.budget is not None:
            self.budget.settle(reserved_usd, spent_usd)
