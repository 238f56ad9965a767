"""One timer looks after many, and treats each of them as a timer of its own would."""

from __future__ import annotations

import asyncio
import time

import pytest

from proctor.engine.time_limit import TimeLimit


def test_whoever_takes_too_long_gets_a_timeout_and_nobody_else() -> None:
    async def go() -> None:
        limit = TimeLimit(0.05)
        ended: list[str] = []

        async def stay(name: str, begin: float, seconds: float) -> None:
            await asyncio.sleep(begin)
            try:
                with limit:
                    await asyncio.sleep(seconds)
            except TimeoutError:
                name += " late"
            ended.append(name)

        # The first leaves in time and the timer that was set for it looks after those who came later.
        await asyncio.gather(stay("quick", 0, 0), stay("slow", 0.02, 60), stay("slower", 0.04, 60))
        assert ended == ["quick", "slow late", "slower late"]
        with limit:
            await asyncio.sleep(0)
        with pytest.raises(TimeoutError), limit:
            await asyncio.sleep(60)

    asyncio.run(go())


def test_nobody_is_cut_off_before_the_time_is_up() -> None:
    async def go() -> None:
        limit = TimeLimit(0.2)
        with limit:
            await asyncio.sleep(0.15)
        started = time.monotonic()
        with pytest.raises(TimeoutError), limit:
            await asyncio.sleep(60)
        assert time.monotonic() - started > 0.19

    asyncio.run(go())


def test_who_is_cancelled_from_elsewhere_hears_of_that() -> None:
    async def go() -> None:
        limit = TimeLimit(0.02)

        async def stay() -> None:
            with limit:
                await asyncio.sleep(60)

        early = asyncio.create_task(stay())
        await asyncio.sleep(0)
        early.cancel()
        both = asyncio.create_task(stay())
        await asyncio.sleep(0)
        asyncio.get_running_loop().call_later(0, time.sleep, 0.05)  # the time is up before either is looked at
        asyncio.get_running_loop().call_later(0.02, both.cancel)
        for task in (early, both):
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(go())


def test_an_error_stays_the_error_that_it_is() -> None:
    async def go() -> None:
        limit = TimeLimit(1)
        with pytest.raises(ZeroDivisionError), limit:
            raise ZeroDivisionError
        with limit, pytest.raises(RuntimeError, match="one block of a task at a time"), limit:
            pass

    asyncio.run(go())


def test_a_limit_goes_on_in_another_event_loop() -> None:
    limit = TimeLimit(0.01)

    async def stay(seconds: float) -> None:
        with limit:
            await asyncio.sleep(seconds)

    asyncio.run(stay(0))
    with pytest.raises(TimeoutError):
        asyncio.run(stay(60))
