"""Limits that all workers share, kept in Redis: one question a second for each model, none for each request."""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Sequence
from hashlib import sha256
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from proctor.domain.identity import canonical
from proctor.domain.model import Allowance, Model, allowance_of, max_concurrency_of
from proctor.domain.plan import Limits
from proctor.engine.breaker import CircuitBreaker
from proctor.engine.ratelimit import model_key
from proctor.worker.limit_script import MARK, SCRIPT
from proctor.worker.shared_limit import HEARTBEAT_SECONDS, SharedAnswer, SharedLimit

if TYPE_CHECKING:
    from redis.asyncio import Redis
    from redis.commands.core import AsyncScript

PREFIX = "proctor:limits"
TIMEOUT_SECONDS = 1.0
log = logging.getLogger("proctor.worker")


class RedisLimits:
    """Gives each run its limits; use it within one event loop, and close it there.

    While Redis is away, nothing is sent beyond what is held, and nothing at all once that lease has run out.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._holder = secrets.token_hex(6)
        self._limits: WeakValueDictionary[str, SharedLimit] = WeakValueDictionary()
        self._active: set[SharedLimit] = set()
        self._breakers: dict[str, CircuitBreaker] = {}
        self._wakes = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._client: Redis | None = None
        self._script: AsyncScript | None = None
        self.round_trips = 0

    async def start(self) -> None:
        """Mark a Redis that is new as one: by the time a request is sent, it is trusted."""
        from redis.exceptions import RedisError

        try:
            async with asyncio.timeout(TIMEOUT_SECONDS):
                await self._redis().eval(MARK, 1, f"{PREFIX}:since")
        except (RedisError, OSError, TimeoutError):
            log.debug("Redis cannot be reached yet")

    async def claim(self, name: str, seconds: float) -> bool:
        """Whether nobody else has claimed this within so many seconds; True also when Redis cannot be asked."""
        from redis.exceptions import RedisError

        if seconds <= 0:
            return True
        try:
            async with asyncio.timeout(TIMEOUT_SECONDS):
                return bool(await self._redis().set(name, self._holder, nx=True, px=int(seconds * 1000)))
        except (RedisError, OSError, TimeoutError):
            return True

    async def lengths(self, names: Sequence[str]) -> list[int]:
        """How many messages wait in each of these queues; none when Redis cannot be asked."""
        from redis.exceptions import RedisError

        try:
            async with asyncio.timeout(TIMEOUT_SECONDS), self._redis().pipeline(transaction=False) as asked:
                for name in names:
                    asked.llen(name)
                return [int(length) for length in await asked.execute()]
        except (RedisError, OSError, TimeoutError):
            return [0] * len(names)

    def of_run(self, run_id: str, limits: Limits) -> RedisRunLimits:
        return RedisRunLimits(self, run_id, limits)

    def shared(self, run_id: str, limits: Limits, model: Model) -> SharedLimit:
        """The limit of this model in this run, the same one every time."""
        key, own = model_digest(model), max_concurrency_of(model)
        # What a model allows counts for all who ask it; what a plan allows, for its run.
        is_of_all = own is not None and own <= limits.concurrency
        ceiling = limits.concurrency if own is None else min(own, limits.concurrency)
        name = key if is_of_all else f"{key}:{run_id}"
        found = self._limits.get(name)
        if found is None:
            found = self._limits[name] = SharedLimit(name, ceiling, self.breaker(model), self._wake)
        found.set_ceiling(ceiling)
        found.breaker = self.breaker(model)
        found.limit_rate(key, allowance_of(model))
        found.limit_rate(f"{key}:{run_id}", Allowance(limits.requests_per_minute, limits.tokens_per_minute))
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._exchange_forever())
        return found

    def breaker(self, model: Model) -> CircuitBreaker:
        """One for each model in this process; a model that was given up gets a new one."""
        key = model_digest(model)
        found = self._breakers.get(key)
        if found is None or found.is_spent:
            found = self._breakers[key] = CircuitBreaker()
        return found

    def _wake(self, limit: SharedLimit) -> None:
        self._active.add(limit)
        self._wakes.set()

    async def _exchange_forever(self) -> None:
        while True:
            pause = min((limit.next_ask_seconds() for limit in self._active), default=HEARTBEAT_SECONDS)
            try:
                async with asyncio.timeout(min(pause, HEARTBEAT_SECONDS)):
                    await self._wakes.wait()
            except TimeoutError:
                pass
            self._wakes.clear()
            for limit in list(self._active):
                if limit.is_idle:
                    self._active.discard(limit)
                elif limit.is_asking():
                    await self._exchange(limit)

    async def _exchange(self, limit: SharedLimit) -> None:
        from redis.exceptions import RedisError

        sent_at = time.monotonic()
        try:
            async with asyncio.timeout(TIMEOUT_SECONDS):
                answer = await self._ask(limit)
        except (RedisError, OSError, TimeoutError) as fault:
            log.debug("the shared limits cannot be asked for: %s", fault)
            limit.failed()
            return
        if answer is None:
            limit.failed()
        else:
            limit.answered(answer, sent_at)

    async def _ask(self, limit: SharedLimit) -> SharedAnswer | None:
        self.round_trips += 1
        keys = [f"{PREFIX}:since", f"{PREFIX}:permits:{limit.name}", f"{PREFIX}:breaker:{limit.name.partition(':')[0]}"]
        keys += [f"{PREFIX}:at:{bucket.name}" for bucket in limit.buckets]
        told = await self._limit_script()(keys=keys, args=[self._holder, *limit.request()])
        if told[0] != "done":
            return None
        granted, target, is_open, wait, *slots = told[1:]
        return SharedAnswer(int(granted), int(target), bool(int(is_open)), float(wait), tuple(map(float, slots)))

    def _redis(self) -> Redis:
        if self._client is None:
            from redis.asyncio import Redis
            from redis.asyncio.retry import Retry
            from redis.backoff import NoBackoff

            self._client = Redis.from_url(
                self._url,
                decode_responses=True,
                socket_timeout=TIMEOUT_SECONDS,
                socket_connect_timeout=TIMEOUT_SECONDS,
                retry=Retry(NoBackoff(), 0),  # the exchange itself is repeated
            )
        return self._client

    def _limit_script(self) -> AsyncScript:
        """Sent once to each Redis, then known by its digest; one that has forgotten it is told again."""
        if self._script is None:
            self._script = self._redis().register_script(SCRIPT)
        return self._script

    async def close(self) -> None:
        """End the exchange; what is held is free again when its lease runs out."""
        for limit in self._active:
            limit.close()
        if self._task is not None:
            self._task.cancel()
            # Within redis-py a cancellation can be lost: nobody waits for ever for that.
            await asyncio.wait({self._task}, timeout=TIMEOUT_SECONDS)
        if self._client is not None:
            closing = asyncio.ensure_future(self._client.aclose())
            await asyncio.wait({closing}, timeout=TIMEOUT_SECONDS)
            closing.cancel()


class RedisRunLimits:
    """The limits of one run."""

    def __init__(self, limits: RedisLimits, run_id: str, of_plan: Limits) -> None:
        self._limits = limits
        self._run_id = run_id
        self._of_plan = of_plan

    def of(self, model: Model) -> SharedLimit:
        return self._limits.shared(self._run_id, self._of_plan, model)

    def breaker_of(self, model: Model) -> CircuitBreaker:
        return self._limits.breaker(model)


def model_digest(model: Model) -> str:
    """Names a model and the account that asks it, and tells nothing about either."""
    return sha256(canonical(list(model_key(model)))).hexdigest()[:24]
