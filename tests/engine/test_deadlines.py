"""A shared time limit strikes whoever is late, and nobody else."""

from __future__ import annotations

import asyncio

import pytest

from proctor.engine.deadlines import Deadlines


def test_what_is_done_in_time_is_given() -> None:
    async def go() -> None:
        deadlines = Deadlines(60)

        async def work() -> int:
            await asyncio.sleep(0)
            return 7

        assert await deadlines.keep(work()) == 7

    asyncio.run(go())


def test_only_those_who_are_late_are_struck() -> None:
    async def go() -> None:
        deadlines, never = Deadlines(0.05), asyncio.Event()

        async def ask(is_slow: bool) -> str:
            try:
                await deadlines.keep(never.wait() if is_slow else asyncio.sleep(0))
            except TimeoutError:
                return "late"
            return "done"

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(ask(number % 3 == 0)) for number in range(12)]
        assert [task.result() for task in tasks] == ["late", "done", "done"] * 4
        # The timer is set again for those who come later.
        assert await ask(is_slow=True) == "late"
        assert await ask(is_slow=False) == "done"

    asyncio.run(go())


def test_a_task_goes_on_after_its_deadline_as_if_it_had_never_been_cancelled() -> None:
    async def go() -> None:
        deadlines = Deadlines(0.01)
        with pytest.raises(TimeoutError):
            await deadlines.keep(asyncio.Event().wait())
        task = asyncio.current_task()
        assert task is not None
        assert task.cancelling() == 0
        async with asyncio.timeout(20):
            await asyncio.sleep(0.02)

    asyncio.run(go())


def test_a_cancel_from_outside_stays_a_cancel_even_when_the_time_is_up_too() -> None:
    async def go(is_late: bool) -> None:
        deadlines, has_begun = Deadlines(0.01 if is_late else 60), asyncio.Event()

        async def stubborn() -> None:
            has_begun.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                if is_late:
                    waiting.cancel()
                raise

        waiting = asyncio.create_task(deadlines.keep(stubborn()))
        await has_begun.wait()
        if not is_late:
            waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert waiting.cancelled()

    asyncio.run(go(is_late=False))
    asyncio.run(go(is_late=True))


def test_work_that_ignores_its_end_leaves_no_cancel_behind() -> None:
    async def go() -> None:
        deadlines = Deadlines(0.01)

        async def deaf() -> str:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                return "still here"
            return ""

        assert await deadlines.keep(deaf()) == "still here"
        task = asyncio.current_task()
        assert task is not None
        assert task.cancelling() == 0

    asyncio.run(go())


def test_an_error_of_the_work_itself_passes_through() -> None:
    async def go() -> None:
        async def fails() -> None:
            raise ValueError("mine")

        deadlines = Deadlines(60)
        with pytest.raises(ValueError, match="mine"):
            await deadlines.keep(fails())

    asyncio.run(go())
