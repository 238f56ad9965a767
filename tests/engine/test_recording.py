"""What the recorder holds at a time, and what becomes of those who wait for room."""

from __future__ import annotations

import asyncio

import pytest

from engine.parts import EchoScorer, MemoryJournal, trials
from proctor.domain.errors import StoreError
from proctor.domain.event import ResultsRecorded
from proctor.domain.response import Response
from proctor.domain.trial import Answer
from proctor.engine.recording import CHARACTERS_OF_ONE, MAX_PENDING, Recorder

MANY = 3 * MAX_PENDING


def test_however_many_wait_for_room_no_more_are_taken_than_there_is() -> None:
    journal, taken, done, most = MemoryJournal(), 0, 0, 0

    def observe(event: ResultsRecorded) -> None:
        nonlocal done
        done += len(event.results)

    async def go() -> None:
        async with Recorder(journal, {1: (EchoScorer(),)}, observe) as recorder:

            async def give(answer: Answer) -> None:
                nonlocal taken, most
                await recorder.answered(answer)
                taken += 1
                most = max(most, taken - done)

            await asyncio.gather(*(give(Answer(trial, Response("x"))) for trial in trials(MANY)))

    asyncio.run(go())
    assert len(journal.results) == MANY
    assert most == MAX_PENDING


def test_of_long_answers_fewer_wait_to_be_recorded() -> None:
    journal, taken, done, most = MemoryJournal(), 0, 0, 0
    parts = 500
    long = Response("x" * ((parts - 1) * CHARACTERS_OF_ONE))

    def observe(event: ResultsRecorded) -> None:
        nonlocal done
        done += len(event.results)

    async def go() -> None:
        nonlocal taken, most
        async with Recorder(journal, {1: (EchoScorer(),)}, observe) as recorder:
            for trial in trials(50):
                await recorder.answered(Answer(trial, long))
                taken += 1
                most = max(most, taken - done)

    asyncio.run(go())
    assert len(journal.results) == 50
    assert most == MAX_PENDING // parts


def test_a_store_that_fails_is_told_to_all_who_wait_for_room() -> None:
    journal = MemoryJournal(failure=StoreError("the disk is full"))
    told: list[BaseException | None] = []

    async def go() -> None:
        async with Recorder(journal, {1: (EchoScorer(),)}, lambda _: None) as recorder:
            asked = (recorder.answered(Answer(trial, Response("x"))) for trial in trials(MANY))
            told.extend(await asyncio.wait_for(asyncio.gather(*asked, return_exceptions=True), 60))

    with pytest.raises(StoreError):
        asyncio.run(go())
    assert told[:MAX_PENDING] == [None] * MAX_PENDING
    assert {type(error) for error in told[MAX_PENDING:]} == {StoreError}
