"""How many requests may be in flight to one model: grows while all is well, halves when the provider says slow down."""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Callable

START = 64
GROWTH_PAUSE_SECONDS = 1.0


class AdaptiveLimit:
    """Additive increase, multiplicative decrease (AIMD), between 1 and a ceiling.

    Until the first cut every success adds a whole slot, so the limit doubles with each round of answers; after it, a
    round adds one. A server fault only pauses growth, and for no more than half of the time: it says nothing about the
    rate, and a server that always fails a few requests must not hold the limit where one cut has left it.
    """

    def __init__(
        self,
        ceiling: int,
        on_change: Callable[[int], None] = lambda _: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._ceiling = ceiling
        self._limit = float(min(ceiling, START))
        self.limit = int(self._limit)
        """Requests that may be in flight now."""
        self._in_flight = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._has_been_cut = False
        self._last_cut = -1.0
        self._grow_after = -math.inf
        self._on_change = on_change
        self._clock = clock

    @property
    def in_flight(self) -> int:
        return self._in_flight

    async def acquire(self) -> float:
        """Wait for a slot; the time returned is handed back to `rate_limited`."""
        if self._in_flight >= self.limit or self._waiting:
            future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(future)
            try:
                await future
            except asyncio.CancelledError:
                if future.done() and not future.cancelled():
                    self._in_flight -= 1
                    self._wake()
                raise
        else:
            self._in_flight += 1
        return self._clock()

    def release(self) -> None:
        self._in_flight -= 1
        if self._waiting:
            self._wake()

    def succeeded(self) -> None:
        if self._limit >= self._ceiling or self._clock() < self._grow_after:
            return
        self._set(self._limit + (1 / self._limit if self._has_been_cut else 1))

    def rate_limited(self, started: float) -> None:
        """Halve, once per round: requests sent before the last cut say nothing new."""
        if started >= self._last_cut:
            self._has_been_cut = True
            self._last_cut = self._clock()
            self._set(self._limit / 2)

    def faulted(self) -> None:
        now = self._clock()
        if now >= self._grow_after + GROWTH_PAUSE_SECONDS:
            self._grow_after = now + GROWTH_PAUSE_SECONDS

    def _set(self, limit: float) -> None:
        self._limit = max(1.0, min(limit, float(self._ceiling)))
        if int(self._limit) != self.limit:
            self.limit = int(self._limit)
            self._on_change(self.limit)
            self._wake()

    def _wake(self) -> None:
        while self._waiting and self._in_flight < self.limit:
            future = self._waiting.popleft()
            if not future.done():
                self._in_flight += 1
                future.set_result(None)
