"""Trials are prepared ahead of need, and no further ahead than that."""

from __future__ import annotations

import asyncio

from proctor.domain.message import Message, Prompt
from proctor.domain.sample import Sample
from proctor.domain.trial import Trial
from proctor.engine.trial_queue import CHUNK, FIRST_CHUNK, MAX_CHUNK, TrialQueue


def trials(count: int) -> list[Trial]:
    prompt = Prompt((Message("user", "q"),))
    return [Trial(str(number), 1, Sample(str(number), "q"), 0, prompt, {}, None) for number in range(count)]


def test_chunks_stay_as_they_are_while_nobody_waits_for_them() -> None:
    async def go() -> None:
        ready = TrialQueue(4)
        sizes = []
        for _ in range(5):
            sizes.append(ready.next_chunk())
            await ready.add(trials(sizes[-1]))
            for _ in range(sizes[-1] - 1):
                await ready.take()
        assert sizes == [FIRST_CHUNK, CHUNK, CHUNK, CHUNK, CHUNK]

    asyncio.run(go())


def test_chunks_grow_to_a_bound_when_they_come_too_late() -> None:
    async def go() -> None:
        ready = TrialQueue(4)
        sizes = []
        for _ in range(6):
            sizes.append(ready.next_chunk())
            waiting = asyncio.create_task(ready.take())
            await asyncio.sleep(0)
            await ready.add(trials(1))
            await waiting
        assert sizes == [FIRST_CHUNK, CHUNK, 2 * CHUNK, MAX_CHUNK, MAX_CHUNK, MAX_CHUNK]

    asyncio.run(go())


def test_more_is_taken_in_only_when_few_are_left() -> None:
    async def go() -> None:
        ready = TrialQueue(8)
        few = ready.next_chunk()
        await ready.add(trials(few + 3))
        adding = asyncio.create_task(ready.add(trials(1)))
        for _ in range(2):
            await ready.take()
            await asyncio.sleep(0)
        assert not adding.done()
        await ready.take()
        await adding

    asyncio.run(go())


def test_what_was_added_is_taken_in_order_and_none_ends_it() -> None:
    async def go() -> None:
        ready = TrialQueue(2)
        await ready.add([*trials(3), None])
        taken = [await ready.take() for _ in range(4)]
        assert [None if trial is None else trial.id for trial in taken] == ["0", "1", "2", None]

    asyncio.run(go())
