"""Asking again after a fault: whether, when, and how often."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from itertools import count
from typing import TypeVar

from msgspec import Struct, field

from proctor.domain.errors import ModelError

FIRST_SECONDS = 0.5
MAX_SECONDS = 60.0
MAX_RETRY_AFTER_SECONDS = 600.0

T = TypeVar("T")
OnFault = Callable[[ModelError, float, int], Awaitable[None]]
"""Hears of a fault, the seconds to wait and which retry comes then; waits, or raises to give up."""


class RetryPolicy(Struct, frozen=True):
    """Exponential backoff with full jitter; a provider's Retry-After is a lower bound."""

    retries: int
    rng: random.Random = field(default_factory=random.Random)

    def wait_seconds(self, error: ModelError, retries_so_far: int) -> float | None:
        """None when asking again is pointless or has been tried often enough."""
        if not error.is_retryable or retries_so_far >= self.retries:
            return None
        after = error.retry_after_seconds
        if after is not None and after > MAX_RETRY_AFTER_SECONDS:
            return None
        longest = min(MAX_SECONDS, FIRST_SECONDS * 2**retries_so_far)
        if after is None:
            return self.rng.uniform(longest / 4, longest)
        # Spread those who were told the same time, or they all come back at once.
        return after + self.rng.uniform(0, min(0.25 * after, FIRST_SECONDS))


async def retry(call: Callable[[], Awaitable[T]], policy: RetryPolicy, on_fault: OnFault) -> T:
    """Call until it works; a fault that is not worth another try is raised."""
    for tries in count():
        try:
            return await call()
        except ModelError as error:
            wait = policy.wait_seconds(error, tries)
            if wait is None:
                raise
            await on_fault(error, wait, tries + 1)
    raise AssertionError("count() does not end")
