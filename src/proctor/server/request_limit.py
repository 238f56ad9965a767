"""How many requests an address, a key and a user may send in a minute, counted by all processes of a server."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from time import time

from msgspec import Struct

from proctor.accounts.counters import Counters
from proctor.domain.errors import LimitReachedError

WINDOW_SECONDS = 60
RATE_LIMIT = "rate_limit"
"""Where a request's state keeps what is left."""


class RequestAllowance(Struct, frozen=True):
    """What is left of this minute's requests."""

    limit: int
    left: int
    seconds: int

    def headers(self) -> dict[str, str]:
        """As the draft of the HTTP working group writes them."""
        return {
            "RateLimit-Policy": f'"requests";q={self.limit};w={WINDOW_SECONDS}',
            "RateLimit": f'"requests";r={self.left};t={self.seconds}',
        }


class CallerLimit:
    def __init__(self, counters: Counters, per_minute: int, clock: Callable[[], float] = time) -> None:
        self._counters, self._limit, self._clock = counters, per_minute, clock

    def take(self, who: str) -> RequestAllowance:
        """One request of this minute; raises LimitReachedError when they are used up."""
        window, passed = divmod(self._clock(), WINDOW_SECONDS)
        # Minutes are the clock's, the same for all processes; what is counted is forgotten after the next one.
        count, _ = self._counters.add(f"requests {who} {int(window)}", 2 * WINDOW_SECONDS)
        seconds = ceil(WINDOW_SECONDS - passed)
        if count > self._limit:
            kind = who.partition(" ")[0]
            raise LimitReachedError(
                f"More than {self._limit:,} requests of one {kind} in a minute: go on in {seconds} seconds.", seconds
            )
        return RequestAllowance(self._limit, self._limit - count, seconds)
