"""The trials that are next."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence

from proctor.domain.trial import Trial

FIRST_CHUNK = 32
CHUNK = 256
MAX_CHUNK = 512
"""Chunks grow only for a model that answers faster than they come: many long prompts at once would fill the memory."""


class TrialQueue:
    """Trials that wait to be asked: filled a chunk at a time, and only when few are left.

    A bounded queue would do the same, but would wake its writer for every single trial that is taken.
    """

    def __init__(self, concurrency: int) -> None:
        self._trials: deque[Trial | None] = deque()
        self._concurrency = concurrency
        self._chunk = 0
        self._few = concurrency
        self._ran_dry = False
        self._are_some = asyncio.Event()
        self._are_few = asyncio.Event()
        self._are_few.set()

    async def take(self) -> Trial | None:
        """The next one; None when there will be no more."""
        while not self._trials:
            self._ran_dry = True
            self._are_some.clear()
            await self._are_some.wait()
        trial = self._trials.popleft()
        if len(self._trials) <= self._few:
            self._are_few.set()
        return trial

    async def add(self, trials: Sequence[Trial | None]) -> None:
        await self._are_few.wait()
        self._trials.extend(trials)
        self._are_some.set()
        if len(self._trials) > self._few:
            self._are_few.clear()

    def next_chunk(self) -> int:
        """How many to prepare next: more than last time when there were too few."""
        if self._chunk < CHUNK:
            self._chunk = CHUNK if self._chunk else FIRST_CHUNK
        elif self._ran_dry:
            self._chunk = min(2 * self._chunk, MAX_CHUNK)
        self._ran_dry = False
        self._few = max(self._chunk, self._concurrency)
        return self._chunk
