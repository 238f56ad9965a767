from __future__ import annotations

import asyncio

import pytest

from proctor.engine.breaker import (
    FAILURES_TO_OPEN,
    FIRST_PAUSE_SECONDS,
    PROBES_OF_A_STRANGER,
    PROBES_OF_AN_ACQUAINTANCE,
    CircuitBreaker,
)


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def opened(clock: Clock) -> CircuitBreaker:
    breaker = CircuitBreaker(clock)
    for _ in range(FAILURES_TO_OPEN):
        breaker.failed()
    return breaker


def test_it_stays_closed_while_successes_come_between_the_failures() -> None:
    breaker = CircuitBreaker(Clock())
    for _ in range(5):
        for _ in range(FAILURES_TO_OPEN - 1):
            breaker.failed()
        breaker.succeeded()
    assert not breaker.is_open


def test_a_row_of_failures_opens_it_and_a_successful_probe_closes_it() -> None:
    clock = Clock()
    breaker = opened(clock)
    assert breaker.is_open
    clock.now += FIRST_PAUSE_SECONDS
    asyncio.run(breaker.admit())
    breaker.succeeded()
    assert not breaker.is_open


def test_only_one_probe_goes_through_at_a_time() -> None:
    async def scenario() -> tuple[bool, bool]:
        clock = Clock()
        breaker = opened(clock)
        clock.now += FIRST_PAUSE_SECONDS
        await breaker.admit()
        second = asyncio.create_task(breaker.admit())
        await asyncio.sleep(0.12)
        was_waiting = not second.done()
        breaker.succeeded()
        await asyncio.wait_for(second, 60)
        return was_waiting, second.done()

    assert asyncio.run(scenario()) == (True, True)


@pytest.mark.parametrize(("has_answered", "probes"), [(False, PROBES_OF_A_STRANGER), (True, PROBES_OF_AN_ACQUAINTANCE)])
def test_when_every_probe_fails_it_gives_up_and_lets_everybody_go(has_answered: bool, probes: int) -> None:
    async def scenario() -> list[bool]:
        clock = Clock()
        breaker = CircuitBreaker(clock)
        if has_answered:
            breaker.succeeded()
        for _ in range(FAILURES_TO_OPEN):
            breaker.failed()
        spent = []
        for _ in range(probes):
            clock.now += 1_000
            await breaker.admit()
            breaker.failed()
            spent.append(breaker.is_spent)
        await asyncio.wait_for(breaker.admit(), 1)
        return spent

    assert asyncio.run(scenario()) == [False] * (probes - 1) + [True]


def test_a_probe_that_was_cancelled_makes_room_for_another() -> None:
    clock = Clock()
    breaker = opened(clock)
    clock.now += FIRST_PAUSE_SECONDS
    asyncio.run(breaker.admit())
    breaker.released()
    asyncio.run(asyncio.wait_for(breaker.admit(), 1))
    assert breaker.is_open


def test_a_server_that_answers_badly_is_given_more_patience_than_none_at_all() -> None:
    async def scenario() -> CircuitBreaker:
        clock = Clock()
        breaker = CircuitBreaker(clock)
        for _ in range(FAILURES_TO_OPEN):
            breaker.failed(is_alive=True)
        for _ in range(PROBES_OF_A_STRANGER):
            clock.now += 1_000
            await breaker.admit()
            breaker.failed(is_alive=True)
        return breaker

    assert not asyncio.run(scenario()).is_spent
