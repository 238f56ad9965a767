from __future__ import annotations

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from proctor.engine.limiter import GROWTH_PAUSE_SECONDS, START, AdaptiveLimit


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_small_ceiling_is_where_it_starts() -> None:
    assert AdaptiveLimit(4).limit == 4


def test_it_starts_below_a_large_ceiling_and_doubles_with_each_round() -> None:
    limit = AdaptiveLimit(1_000)
    assert limit.limit == START
    for _ in range(START):
        limit.succeeded()
    assert limit.limit == 2 * START


def test_being_told_to_slow_down_halves_it_once_per_round() -> None:
    clock = Clock()
    limit = AdaptiveLimit(64, clock=clock)
    sent = clock.now
    clock.now += 1
    limit.rate_limited(sent)
    assert limit.limit == 32
    limit.rate_limited(sent)  # sent before the cut
    assert limit.limit == 32
    limit.rate_limited(clock.now + 0.1)
    assert limit.limit == 16


def test_after_a_cut_a_whole_round_adds_one() -> None:
    clock = Clock()
    limit = AdaptiveLimit(64, clock=clock)
    limit.rate_limited(clock.now)
    for _ in range(31):
        limit.succeeded()
    assert limit.limit == 32
    limit.succeeded()
    limit.succeeded()
    assert limit.limit == 33


def test_it_never_falls_below_one() -> None:
    clock = Clock()
    limit = AdaptiveLimit(8, clock=clock)
    for _ in range(20):
        clock.now += 1
        limit.rate_limited(clock.now)
    assert limit.limit == 1


def test_a_server_fault_pauses_growth_and_cuts_nothing() -> None:
    clock = Clock()
    limit = AdaptiveLimit(128, clock=clock)
    limit.faulted()
    limit.succeeded()
    assert limit.limit == START
    clock.now += GROWTH_PAUSE_SECONDS
    limit.succeeded()
    assert limit.limit == START + 1


def test_a_server_that_always_fails_a_few_requests_does_not_hold_the_limit_down() -> None:
    clock = Clock()
    limit = AdaptiveLimit(48, clock=clock)
    limit.rate_limited(clock.now)
    limit.rate_limited(clock.now)
    assert limit.limit == 12
    for _ in range(2_000):  # rounds of 0.1 s in which one answer of twelve is a fault
        clock.now += 0.1
        for place in range(limit.limit):
            if place % 12 == 0:
                limit.faulted()
            else:
                limit.succeeded()
    assert limit.limit == 48


def test_nobody_gets_a_slot_above_the_limit_and_everybody_gets_one_in_the_end() -> None:
    async def scenario() -> tuple[int, int]:
        limit = AdaptiveLimit(3)
        most = done = 0

        async def use() -> None:
            nonlocal most, done
            await limit.acquire()
            most = max(most, limit.in_flight)
            await asyncio.sleep(0)
            limit.release()
            done += 1

        async with asyncio.TaskGroup() as group:
            for _ in range(50):
                group.create_task(use())
        return most, done

    assert asyncio.run(scenario()) == (3, 50)


def test_a_cancelled_waiter_gives_its_place_back() -> None:
    async def scenario() -> int:
        limit = AdaptiveLimit(1)
        await limit.acquire()
        waiting = asyncio.create_task(limit.acquire())
        await asyncio.sleep(0)
        waiting.cancel()
        limit.release()
        await asyncio.gather(waiting, return_exceptions=True)
        await asyncio.wait_for(limit.acquire(), 1)
        return limit.in_flight

    assert asyncio.run(scenario()) == 1


def test_a_waiter_cancelled_after_it_was_given_a_slot_passes_it_on() -> None:
    async def scenario() -> int:
        limit = AdaptiveLimit(1)
        await limit.acquire()
        first = asyncio.create_task(limit.acquire())
        second = asyncio.create_task(limit.acquire())
        await asyncio.sleep(0)
        limit.release()  # hands the slot to the first
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        await asyncio.wait_for(second, 1)
        return limit.in_flight

    assert asyncio.run(scenario()) == 1


@given(st.integers(1, 200), st.lists(st.sampled_from(["ok", "slow", "fault"]), max_size=300))
def test_whatever_happens_the_limit_stays_between_one_and_the_ceiling(ceiling: int, events: list[str]) -> None:
    clock = Clock()
    limit = AdaptiveLimit(ceiling, clock=clock)
    for event in events:
        clock.now += 0.3
        {"ok": limit.succeeded, "slow": lambda: limit.rate_limited(clock.now), "fault": limit.faulted}[event]()
        assert 1 <= limit.limit <= ceiling
