"""How fast one model may be asked: so many requests and tokens a minute, and whatever its provider says is left."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Hashable
from functools import partial
from typing import Protocol

from msgspec import Struct

from proctor.domain.model import Allowance, Model, account_of, allowance_of
from proctor.domain.plan import Limits
from proctor.domain.response import RateState, Usage
from proctor.engine.breaker import CircuitBreaker
from proctor.engine.retry import MAX_RETRY_AFTER_SECONDS

MINUTE = 60.0
CHARACTERS_PER_TOKEN = 4
"""A first guess, put right as soon as the answer tells how many tokens there were."""

MAX_RUNS = 100
"""Of which one process remembers the limits: that of the longest unused is forgotten first."""

NOTHING = 1e-6
"""Seconds too few to wait for: a clock may not be able to show them."""

Pause = Callable[[float, asyncio.Event, asyncio.Event], Awaitable[None]]


class RequestLimit(Protocol):
    """Says when a request to a model may be sent; whoever was admitted sends at once, and settles afterwards."""

    @property
    def is_counting_tokens(self) -> bool: ...

    async def admit(self, characters: int, stopping: asyncio.Event) -> float | None:
        """The tokens set aside for a request, once it may be sent; None when the run stops first."""
        ...

    def settle(self, set_aside: float, usage: Usage | None, rate: RateState | None, *, further: int = 0) -> None:
        """A request has ended; `further` ones were sent for the same answer."""
        ...


class RunRateLimits(Protocol):
    """What all share who ask the same model with the same key: in this process, or over all workers."""

    def of(self, model: Model) -> RequestLimit: ...

    def breaker_of(self, model: Model) -> CircuitBreaker: ...


class RunLimits(Protocol):
    """Gives the limits of a run, the same ones to each of its chunks."""

    def of_run(self, run_id: str, limits: Limits) -> RunRateLimits: ...


async def wait_for_either(seconds: float, stopping: asyncio.Event, changed: asyncio.Event) -> None:
    """Sleep, but wake when the run stops or when there is news."""
    waiting = [asyncio.create_task(event.wait()) for event in (stopping, changed)]
    try:
        await asyncio.wait(waiting, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in waiting:
            task.cancel()


class Bucket:
    """Fills steadily up to a second's worth; may be overdrawn by what was taken for too little."""

    def __init__(self, per_minute: float, now: float) -> None:
        self.per_minute = per_minute
        self.now = now
        self.level = self.capacity

    @property
    def capacity(self) -> float:
        return max(1.0, self.per_minute / MINUTE)

    def wait_seconds(self, amount: float, now: float) -> float:
        """How long until this much can be taken; more than the bucket holds needs a full one."""
        self.level = min(self.capacity, self.level + max(0.0, now - self.now) * self.per_minute / MINUTE)
        self.now = now
        wait = (min(amount, self.capacity) - self.level) * MINUTE / self.per_minute
        return wait if wait > NOTHING else 0.0

    def take(self, amount: float) -> None:
        self.level -= amount


class Window(Struct):
    """What a provider said is left until a moment; nothing is known after it."""

    left: float
    until: float

    def wait_seconds(self, amount: float, now: float) -> float:
        return 0.0 if now >= self.until or self.left >= amount else self.until - now


class RateLimit:
    """Lets requests through in the order they came, each when its turn has come; nobody waits without a reason."""

    def __init__(
        self,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        pause: Pause = wait_for_either,
    ) -> None:
        now = clock()
        self._requests = None if requests_per_minute is None else Bucket(requests_per_minute, now)
        self._tokens = None if tokens_per_minute is None else Bucket(tokens_per_minute, now)
        self._requests_left: Window | None = None
        self._tokens_left: Window | None = None
        self._in_flight = 0
        self._tokens_each: float | None = None
        self._turn = asyncio.Lock()  # wakes those who wait in the order they came
        self._changed = asyncio.Event()
        self._clock = clock
        self._pause = pause

    @property
    def is_counting_tokens(self) -> bool:
        return self._tokens is not None or self._tokens_left is not None

    def tighten(self, allowance: Allowance) -> None:
        """Keep to this allowance too; one that is wider than what holds already changes nothing."""
        self._requests = self._tightened(self._requests, allowance.requests_per_minute)
        self._tokens = self._tightened(self._tokens, allowance.tokens_per_minute)

    def _tightened(self, bucket: Bucket | None, per_minute: float | None) -> Bucket | None:
        if per_minute is None or (bucket is not None and bucket.per_minute <= per_minute):
            return bucket
        return Bucket(per_minute, self._clock())

    async def admit(self, characters: int, stopping: asyncio.Event) -> float | None:
        """The tokens set aside for a request, once it may be sent; None when the run stops first."""
        if not self._is_limiting:
            self._in_flight += 1
            return self._expected(characters)
        if self._turn.locked() or self._wait_seconds(self._expected(characters)) > 0:
            async with self._turn:
                while (wait := self._wait_seconds(self._expected(characters))) > 0 and not stopping.is_set():
                    self._changed.clear()
                    await self._pause(wait, stopping, self._changed)
                if stopping.is_set():
                    return None
                return self._take(self._expected(characters))
        return self._take(self._expected(characters))

    def settle(self, set_aside: float, usage: Usage | None, rate: RateState | None, *, further: int = 0) -> None:
        """A request has ended: count what it really used, and believe what the provider says is left.

        `further` requests were sent for the same answer without waiting; those that come after make up for them.
        """
        self._in_flight -= 1
        if self._requests is not None:
            self._requests.take(further)
        used = None if usage is None or usage.input_tokens is None else usage.input_tokens + (usage.output_tokens or 0)
        if used is not None:
            self._tokens_each = used if self._tokens_each is None else 0.9 * self._tokens_each + 0.1 * used
            if self._tokens is not None:
                self._tokens.take(used - set_aside)
        if rate is not None:
            self._learn(rate)
        self._changed.set()

    def _expected(self, characters: int) -> float:
        return characters / CHARACTERS_PER_TOKEN if self._tokens_each is None else self._tokens_each

    def _wait_seconds(self, tokens: float) -> float:
        if not self._is_limiting:
            return 0.0
        now = self._clock()
        limits = (
            (self._requests, 1.0),
            (self._requests_left, 1.0),
            (self._tokens, tokens),
            (self._tokens_left, tokens),
        )
        return max((limit.wait_seconds(amount, now) for limit, amount in limits if limit is not None), default=0.0)

    @property
    def _is_limiting(self) -> bool:
        return bool(self._requests or self._requests_left or self._tokens or self._tokens_left)

    def _take(self, tokens: float) -> float:
        self._in_flight += 1
        for bucket, amount in ((self._requests, 1.0), (self._tokens, tokens)):
            if bucket is not None:
                bucket.take(amount)
        for window, amount in ((self._requests_left, 1.0), (self._tokens_left, tokens)):
            if window is not None:
                window.left -= amount
        return tokens

    def _learn(self, rate: RateState) -> None:
        """Requests in flight may not have been counted yet: taken as not counted, so that none is turned away."""
        now = self._clock()
        # A quota that is spent for hours is no reason to wait in silence: then a request is sent, and its answer tells.
        longest = MAX_RETRY_AFTER_SECONDS
        if rate.requests_left is not None and rate.requests_reset_seconds is not None:
            left = rate.requests_left - self._in_flight
            self._requests_left = Window(max(0, left), now + min(rate.requests_reset_seconds, longest))
        if rate.tokens_left is not None and rate.tokens_reset_seconds is not None:
            tokens = rate.tokens_left - self._in_flight * (self._tokens_each or 0.0)
            # One that needs more than is ever left would wait for nothing: it goes when the allowance is whole again.
            self._tokens_left = Window(max(0, tokens), now + min(rate.tokens_reset_seconds, longest))


class RateLimits:
    """One limit for each provider, key and model, shared by all who ask it."""

    def __init__(
        self,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        pause: Pause = wait_for_either,
    ) -> None:
        self._of_each = Allowance(requests_per_minute, tokens_per_minute)
        self._make = partial(RateLimit, clock=clock, pause=pause)
        self._limits: dict[Hashable, RateLimit] = {}

    def of(self, model: Model) -> RateLimit:
        """The model's limit: the strictest of what the run and all who share it allow."""
        limit = self._limits.setdefault(model_key(model), self._make())
        limit.tighten(self._of_each.stricter(allowance_of(model)))
        return limit

    def breaker_of(self, model: Model) -> CircuitBreaker:  # noqa: ARG002 - each gate has its own
        return CircuitBreaker()


def model_key(model: Model) -> tuple[str, str | None, str, str | None]:
    """Provider, endpoint, name and account: what a provider counts requests by."""
    identity = model.identity
    return identity.provider, identity.endpoint, identity.name, account_of(model)


class MemoryLimits:
    """The limits of runs, kept in this process alone: all chunks of a run that it executes share them."""

    def __init__(self) -> None:
        self._runs: dict[str, RateLimits] = {}

    def of_run(self, run_id: str, limits: Limits) -> RateLimits:
        found = self._runs.pop(run_id, None) or RateLimits(limits.requests_per_minute, limits.tokens_per_minute)
        self._runs[run_id] = found
        if len(self._runs) > MAX_RUNS:
            del self._runs[next(iter(self._runs))]
        return found
