"""Stops hammering a provider that is down, and says when to give it up."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable

FAILURES_TO_OPEN = 12
FIRST_PAUSE_SECONDS = 1.0
MAX_PAUSE_SECONDS = 60.0
# A server that never answered is probably a wrong address: say so soon. One that did is worth three minutes.
PROBES_OF_A_STRANGER = 2
PROBES_OF_AN_ACQUAINTANCE = 8


class CircuitBreaker:
    """Opens after a row of failures; then one probe at a time, at growing intervals, until one succeeds.

    `is_spent` becomes true when every probe has failed: the provider is given up.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failures_in_a_row = 0
        self._failed_probes = 0
        self._closed = asyncio.Event()
        self._closed.set()
        self._next_probe_at = 0.0
        self._is_probing = False
        self._probes = PROBES_OF_A_STRANGER
        self._is_heard = False
        self.is_calm = False
        """Whether there was nothing but success lately: one more is no news."""

    @property
    def is_open(self) -> bool:
        return not self._closed.is_set()

    @property
    def is_spent(self) -> bool:
        return self._failed_probes >= self._probes

    @property
    def is_open_here(self) -> bool:
        """Open because of what was seen here, not by what others said."""
        return self.is_open and not self._is_heard

    def hear(self, *, is_open: bool) -> None:
        """News of another process's breaker for the same model: while that is open, it probes and this one waits."""
        if is_open and not self.is_open and not self.is_spent:
            self._is_heard = True
            self.is_calm = False
            self._next_probe_at = math.inf
            self._closed.clear()
        elif not is_open and self._is_heard:
            self._is_heard = False
            self._closed.set()

    async def admit(self) -> None:
        """Return at once while closed; while open, let one probe through when its time has come."""
        while self.is_open and not self.is_spent:
            wait = self._next_probe_at - self._clock()
            if wait <= 0 and not self._is_probing:
                self._is_probing = True
                return
            try:
                async with asyncio.timeout(max(min(wait, MAX_PAUSE_SECONDS), 0.05)):
                    await self._closed.wait()
            except TimeoutError:
                continue

    def succeeded(self) -> None:
        self._probes = PROBES_OF_AN_ACQUAINTANCE
        self._failures_in_a_row = self._failed_probes = 0
        self._is_probing = self._is_heard = False
        self.is_calm = True
        self._closed.set()

    def failed(self, *, is_alive: bool = False) -> None:
        """`is_alive`: there was an answer, if a bad one, so the address is right and patience may pay."""
        if is_alive:
            self._probes = PROBES_OF_AN_ACQUAINTANCE
        self.is_calm = False
        self._failures_in_a_row += 1
        if self._is_probing:
            self._is_probing = False
            self._failed_probes += 1
            self._next_probe_at = self._clock() + min(MAX_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2**self._failed_probes)
        elif self._failures_in_a_row >= FAILURES_TO_OPEN and not self.is_open:
            self._closed.clear()
            self._next_probe_at = self._clock() + FIRST_PAUSE_SECONDS
        if self.is_spent:
            self._closed.set()

    def released(self) -> None:
        """A probe ended without an answer either way (it was cancelled)."""
        self._is_probing = False
