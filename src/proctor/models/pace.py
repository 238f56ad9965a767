"""Keep within a provider's allowance: so many requests and tokens a minute, and whatever its headers say."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from proctor.domain.errors import RateLimitedError
from proctor.domain.response import Usage
from proctor.models.waits import exhausted_seconds

MINUTE = 60.0


@dataclass(slots=True)
class Pace:
    """When the next request may go out; one for each model, so that models do not wait for each other."""

    model: str
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    _next_at: float = field(default=0.0, init=False)

    async def wait(self, timeout_seconds: float) -> None:
        """Wait for this request's turn; one that would have to wait longer than it may take at all is sent back."""
        now = time.monotonic()
        if self.requests_per_minute is None and self._next_at <= now:
            return
        turn = max(now, self._next_at)
        if turn - now > timeout_seconds:
            raise RateLimitedError(f"{self.model} waits for its allowance", retry_after_seconds=turn - now)
        if self.requests_per_minute is not None:
            self._next_at = turn + MINUTE / self.requests_per_minute
        await asyncio.sleep(turn - now)

    def settle(self, usage: Usage, headers: Mapping[str, str]) -> None:
        """Count what a request used, and believe the provider when it says that nothing is left."""
        if self.tokens_per_minute is not None:
            used = (usage.input_tokens or 0) + (usage.output_tokens or 0)
            self._next_at = max(self._next_at, time.monotonic()) + used * MINUTE / self.tokens_per_minute
        seconds = exhausted_seconds(headers)
        if seconds is not None:
            self._next_at = max(self._next_at, time.monotonic() + seconds)
