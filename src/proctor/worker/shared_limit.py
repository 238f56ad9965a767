"""A process's part of what all workers may ask a model together: permits and times to send, taken in blocks."""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Callable

from msgspec import Struct

from proctor.domain.model import Allowance
from proctor.domain.response import RateState, Usage
from proctor.engine.breaker import CircuitBreaker
from proctor.engine.ratelimit import MINUTE, RateLimit

LEASE_SECONDS = 6.0
LEASE_MARGIN_SECONDS = 1.0
"""By so much a worker believes its lease to be shorter than Redis does."""
HEARTBEAT_SECONDS = 1.0
FIRST_HEARTBEAT_SECONDS = 0.1
"""After more was granted: those who came a moment later have none yet. Every next one takes twice as long."""
ASK_AGAIN_SECONDS = 0.2
"""Between two requests for permits while there are none left."""
IDLE_SECONDS = 0.2
"""Without a request for so long, a process gives its permits back."""
BLOCK_SECONDS = 0.25
"""Times to send are taken for so long ahead."""
HORIZON_SECONDS = 1.0
"""No time to send is given that is further away: a worker that is killed takes no more than that with it."""
LATE_SECONDS = 0.25
"""A time to send that was missed by more is lost: many late ones at once would be more than the rate."""


class RateBucket(Struct):
    """One rate that requests count against: where it is kept, and how many a minute."""

    name: str
    per_minute: float
    is_tokens: bool
    owed: float = 0.0
    """Used beyond what was set aside, and not told yet."""


class SharedAnswer(Struct, frozen=True):
    """What was granted; None was lost or overtaken."""

    granted: int
    target: int
    """To how many permits to come down, because another worker has too few."""
    is_open_elsewhere: bool
    wait_seconds: float
    slots: tuple[float, ...]
    """Seconds from now at which requests may be sent."""


class _Waiting(Struct, eq=False):
    future: asyncio.Future[float | None]
    characters: int
    stopping: asyncio.Event


class SharedLimit(RateLimit):
    """Admits a request when a permit is free and its time has come; asks for more of both through `wake`.

    Whoever was admitted must send at once. What a provider says is left is kept to as in any other limit.
    """

    def __init__(
        self,
        name: str,
        ceiling: int,
        breaker: CircuitBreaker,
        wake: Callable[[SharedLimit], None],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(clock=clock)
        self.name = name
        self.breaker = breaker
        self.buckets: list[RateBucket] = []
        self.sequence = 0
        self._ceiling = ceiling
        self._permits = 0
        self._valid_until = -math.inf
        self._slots: deque[tuple[float, float]] = deque()
        self._waiting: deque[_Waiting] = deque()
        self._wake = wake
        self._timer: asyncio.TimerHandle | None = None
        self._watchers: dict[asyncio.Event, asyncio.Task[None]] = {}
        self._ask_slots_at = self._ask_permits_at = self._beat_at = -math.inf
        self._heartbeat_seconds = HEARTBEAT_SECONDS
        self._is_giving_back = False
        self._used_at = clock()
        self._was_open_here = False
        self._asked_tokens = 0.0
        self._told: list[float] = []

    @property
    def is_counting_tokens(self) -> bool:
        return super().is_counting_tokens or any(bucket.is_tokens for bucket in self.buckets)

    @property
    def permits(self) -> int:
        """How many requests may be in flight from here: none when the lease may have run out."""
        return self._permits if self._clock() < self._valid_until else 0

    @property
    def in_flight(self) -> int:
        return self._in_flight

    def set_ceiling(self, ceiling: int) -> None:
        self._ceiling = ceiling

    def limit_rate(self, scope: str, allowance: Allowance) -> None:
        """Keep to this allowance too, which all who name the same scope share; a wider one changes nothing."""
        for kind, per_minute in (("requests", allowance.requests_per_minute), ("tokens", allowance.tokens_per_minute)):
            if per_minute is None:
                continue
            name = f"{scope}:{kind}"
            found = next((bucket for bucket in self.buckets if bucket.name == name), None)
            if found is None:
                self.buckets.append(RateBucket(name, per_minute, kind == "tokens"))
            else:
                found.per_minute = min(found.per_minute, per_minute)

    async def admit(self, characters: int, stopping: asyncio.Event) -> float | None:
        self._used_at = self._clock()
        if stopping.is_set():
            return None
        if not self._waiting and (taken := self._try_take(characters)) is not None:
            return taken
        while True:
            waiting = _Waiting(asyncio.get_running_loop().create_future(), characters, stopping)
            self._waiting.append(waiting)
            if len(self._waiting) == 1:
                self._wake(self)  # a limit that was idle is looked at no more, and may have nothing to ask just now
            self._watch(stopping)
            self._pump()
            try:
                taken = await waiting.future
            except asyncio.CancelledError:
                self._give_up(waiting)
                raise
            # The process may have stood still since.
            if taken is None or self._clock() < self._valid_until:
                return taken
            self._give_back(taken)

    def settle(self, set_aside: float, usage: Usage | None, rate: RateState | None, *, further: int = 0) -> None:
        self._used_at = self._clock()
        used = None if usage is None or usage.input_tokens is None else usage.input_tokens + (usage.output_tokens or 0)
        for bucket in self.buckets:
            if not bucket.is_tokens:
                bucket.owed += further
            elif used is not None:
                bucket.owed += used - set_aside
        super().settle(set_aside, usage, rate, further=further)
        if self._is_giving_back and self._in_flight <= self._permits:
            self._is_giving_back, self._beat_at = False, self._used_at  # told at once: another waits for it
        if not self._in_flight and not self._waiting:
            self._beat_at = min(self._beat_at, self._used_at + IDLE_SECONDS)
            self._wake(self)
        self._pump()

    def _give_up(self, waiting: _Waiting) -> None:
        if waiting.future.done() and not waiting.future.cancelled() and (taken := waiting.future.result()) is not None:
            self._give_back(taken)
        else:
            self._waiting = deque(item for item in self._waiting if item is not waiting)

    def _give_back(self, taken: float) -> None:
        """It was not sent, and does not count."""
        self._in_flight -= 1
        for bucket in self.buckets:
            bucket.owed -= taken if bucket.is_tokens else 1
        self._pump()

    def _watch(self, stopping: asyncio.Event) -> None:
        """Whoever waits hears when its run stops."""
        if stopping in self._watchers:
            return

        async def watch() -> None:
            try:
                await stopping.wait()
                self._pump()
            finally:
                self._watchers.pop(stopping, None)

        self._watchers[stopping] = asyncio.create_task(watch())

    def _try_take(self, characters: int) -> float | None:
        now = self._clock()
        if self._in_flight >= self._permits or now >= self._valid_until:
            return None
        tokens = self._expected(characters)
        if self._wait_seconds(tokens) > 0:
            return None
        if self.buckets:
            while self._slots and self._slots[0][0] < now - LATE_SECONDS:
                self._slots.popleft()
            if not self._slots or self._slots[0][0] > now:
                return None
            _, tokens = self._slots.popleft()
        return self._take(tokens)

    def _pump(self) -> None:
        """Admit those who wait, in the order they came, as far as it goes; ask for more of what is missing."""
        if any(waiting.stopping.is_set() for waiting in self._waiting):
            for waiting in self._waiting:
                if waiting.stopping.is_set() and not waiting.future.done():
                    waiting.future.set_result(None)
        while self._waiting:
            head = self._waiting[0]
            if not head.future.done():
                taken = self._try_take(head.characters)
                if taken is None:
                    break
                head.future.set_result(taken)
            self._waiting.popleft()
        if self._waiting:
            self._set_timer()
        if self.is_asking():
            self._wake(self)

    def _set_timer(self) -> None:
        """Look again when the next time to send comes, or when the provider's window ends."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._in_flight >= self.permits:
            return
        now = self._clock()
        wait = self._wait_seconds(self._expected(self._waiting[0].characters))
        if self._slots:
            wait = max(wait, self._slots[0][0] - now)
        if wait > 0:
            self._timer = asyncio.get_running_loop().call_later(min(wait, HEARTBEAT_SECONDS), self._pump)

    # What the exchange with Redis needs.

    @property
    def wanted(self) -> int:
        return min(self._ceiling, self._in_flight + len(self._waiting))

    @property
    def is_idle(self) -> bool:
        """Whether nothing was asked for a while, and everything is given back."""
        is_used = self._waiting or self._in_flight or self._clock() < self._used_at + IDLE_SECONDS
        return not is_used and self._permits == 0

    def slots_wanted(self) -> int:
        """How many times to send to ask for: a block, when half of the last one is used up."""
        if not self.buckets or self._clock() < self._ask_slots_at:
            return 0
        block = max(1, math.ceil(min(bucket.per_minute for bucket in self._per_request()) / MINUTE * BLOCK_SECONDS))
        usable = min(len(self._waiting), max(0, self.permits - self._in_flight))
        if len(self._slots) > block / 2 or usable <= len(self._slots):
            return 0
        return min(block, usable - len(self._slots))

    def _per_request(self) -> list[RateBucket]:
        """The rates, in requests a minute."""
        each = max(1.0, self._expected(self._waiting[0].characters if self._waiting else 0))
        return [
            RateBucket(item.name, item.per_minute / each if item.is_tokens else item.per_minute, item.is_tokens)
            for item in self.buckets
        ]

    def is_asking(self) -> bool:
        """Whether something is to be told or asked now."""
        now = self._clock()
        if now >= self._beat_at:
            return True
        return (self._lacks_permits() and now >= self._ask_permits_at) or self.slots_wanted() > 0

    def _lacks_permits(self) -> bool:
        return self._in_flight >= self._permits < self.wanted

    def next_ask_seconds(self) -> float:
        """When to look again, from now; what happens before that calls `wake`."""
        now, times = self._clock(), [self._beat_at]
        if self._lacks_permits():
            times.append(self._ask_permits_at)
        if self._ask_slots_at > now:
            times.append(self._ask_slots_at)
        return max(0.0, min(times) - now)

    def request(self) -> tuple[str, ...]:
        """The arguments of the script, after the holder's name; what was lowered before is given back by them."""
        self.sequence += 1
        if self._clock() >= self._used_at + IDLE_SECONDS and not self._waiting:
            self._permits = min(self._permits, self._in_flight)
        held = max(self._permits, self._in_flight)
        is_open = self.breaker.is_open_here
        news = "open" if is_open else "closed" if self._was_open_here else ""
        self._was_open_here = is_open
        tokens = self._expected(self._waiting[0].characters if self._waiting else 0)
        self._asked_tokens = tokens
        rates: list[str] = []
        for bucket in self.buckets:
            second = MINUTE / bucket.per_minute
            rates += [f"{second * (tokens if bucket.is_tokens else 1.0):.9f}", f"{second * bucket.owed:.9f}"]
        self._told = [bucket.owed for bucket in self.buckets]
        return (
            str(self.sequence), str(held), str(self.wanted), str(self._ceiling), str(LEASE_SECONDS),
            str(LEASE_SECONDS - LEASE_MARGIN_SECONDS), str(HORIZON_SECONDS), str(self.slots_wanted()), news, *rates,
        )  # fmt: skip

    def answered(self, answer: SharedAnswer, sent_at: float) -> None:
        """Take what was granted; `sent_at` is when the question left."""
        now = self._clock()
        for bucket, told in zip(self.buckets, self._told, strict=False):
            bucket.owed -= told
        is_more = answer.granted > self._permits
        self._heartbeat_seconds = (
            FIRST_HEARTBEAT_SECONDS if is_more else min(2 * self._heartbeat_seconds, HEARTBEAT_SECONDS)
        )
        self._permits = min(answer.granted, max(answer.target, 0))
        self._valid_until = sent_at + LEASE_SECONDS - LEASE_MARGIN_SECONDS
        self._beat_at = now + self._heartbeat_seconds
        self._is_giving_back = answer.target < answer.granted <= self._in_flight
        if answer.target < answer.granted and not self._is_giving_back:
            self._beat_at = now  # what is not in use is given back at once
        self._ask_permits_at = now + (HEARTBEAT_SECONDS if answer.granted else ASK_AGAIN_SECONDS)
        if answer.wait_seconds > 0:
            self._ask_slots_at = now + answer.wait_seconds
        self._slots.extend((now + slot, self._asked_tokens) for slot in answer.slots)
        self.breaker.hear(is_open=answer.is_open_elsewhere)
        self._pump()

    def failed(self) -> None:
        """Nothing was heard: ask again soon, and keep to what is held until the lease runs out."""
        now = self._clock()
        self._beat_at = self._ask_permits_at = now + ASK_AGAIN_SECONDS
        self._ask_slots_at = max(self._ask_slots_at, now + ASK_AGAIN_SECONDS)
        self._was_open_here = True  # what was told may not have arrived
        self._pump()

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        for task in list(self._watchers.values()):
            task.cancel()
