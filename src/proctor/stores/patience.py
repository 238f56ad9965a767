"""Waits for a database that is away for a while: an answer that was paid for is not lost because a server restarts."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from proctor.domain.errors import StoreError

T = TypeVar("T")
PATIENCE_SECONDS = 300.0
MAX_PAUSE_SECONDS = 1.0


class StoreUnreachableError(StoreError):
    """The database cannot be reached, or has no room, for now; what was written before is there when it is back."""


def patiently(work: Callable[[], T], seconds: float = PATIENCE_SECONDS) -> T:
    """Do the work, again and again while the database cannot be reached; doing it twice must be harmless."""
    until, pause = time.monotonic() + seconds, 0.05
    while True:
        try:
            return work()
        except StoreUnreachableError:
            if time.monotonic() >= until:
                raise
        time.sleep(pause)
        pause = min(2 * pause, MAX_PAUSE_SECONDS)
