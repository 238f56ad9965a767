"""When a process speaks with the others of the permits that they share; by a clock that the tests turn."""

from __future__ import annotations

import asyncio

from proctor.engine.breaker import CircuitBreaker
from proctor.worker.shared_limit import SharedAnswer, SharedLimit

HELD = 1
"""The place of the permits that a process says it holds, in what it sends."""


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def limit_of(clock: Clock, ceiling: int = 8) -> SharedLimit:
    return SharedLimit("model", ceiling, CircuitBreaker(), lambda _: None, clock=clock)


def hear(limit: SharedLimit, clock: Clock, granted: int, target: int) -> None:
    limit.request()
    limit.answered(SharedAnswer(granted, target, False, 0.0, ()), clock.now)


async def sent(limit: SharedLimit, count: int) -> list[float]:
    stopping = asyncio.Event()
    taken = [await limit.admit(10, stopping) for _ in range(count)]
    return [tokens for tokens in taken if tokens is not None]


def test_who_was_granted_more_asks_again_soon_whether_others_came_and_then_ever_less() -> None:
    async def work() -> list[float]:
        clock, pauses = Clock(), []
        limit = limit_of(clock)
        for _ in range(6):
            hear(limit, clock, 8, 8)
            await sent(limit, 8 - limit.in_flight)
            pauses.append(round(limit.next_ask_seconds(), 3))
            clock.now += limit.next_ask_seconds()
        return pauses

    assert asyncio.run(work()) == [0.1, 0.2, 0.4, 0.8, 1.0, 1.0]


def test_permits_that_another_lacks_are_given_back_with_the_answer_that_frees_them() -> None:
    async def work() -> None:
        clock = Clock()
        limit = limit_of(clock)
        hear(limit, clock, 8, 8)
        taken = await sent(limit, 8)
        hear(limit, clock, 8, 4)
        for tokens in taken[:3]:
            limit.settle(tokens, None, None)
            assert not limit.is_asking()
        limit.settle(taken[3], None, None)
        assert limit.is_asking()
        assert limit.request()[HELD] == "4"

    asyncio.run(work())


def test_who_asks_nothing_more_holds_its_permits_no_longer_than_a_moment() -> None:
    async def work() -> None:
        clock = Clock()
        limit = limit_of(clock)
        hear(limit, clock, 8, 8)
        for _ in range(5):  # it has not spoken with the others for long
            clock.now += limit.next_ask_seconds()
            hear(limit, clock, 8, 8)
        for tokens in await sent(limit, 8):
            limit.settle(tokens, None, None)
        assert limit.next_ask_seconds() <= 0.2
        clock.now += 0.2
        assert limit.is_asking()
        assert limit.request()[HELD] == "0"

    asyncio.run(work())


def test_who_waits_at_a_limit_that_was_idle_is_looked_at_again() -> None:
    """It may have just been told that there is nothing, and so has nothing to ask at this moment."""

    async def work() -> tuple[bool, bool, list[SharedLimit]]:
        clock, woken = Clock(), list[SharedLimit]()
        limit = SharedLimit("model", 8, CircuitBreaker(), woken.append, clock=clock)
        clock.now += 1
        hear(limit, clock, 0, 0)
        was_idle, was_asking = limit.is_idle, limit.is_asking()
        woken.clear()
        waiting = asyncio.create_task(limit.admit(10, asyncio.Event()))
        await asyncio.sleep(0)
        waiting.cancel()
        return was_idle, was_asking, [*woken, limit]

    was_idle, was_asking, [first, *others] = asyncio.run(work())
    assert (was_idle, was_asking) == (True, False)
    assert first in others
