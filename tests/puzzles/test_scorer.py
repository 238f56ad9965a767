"""The scorer of puzzles: what it reads, and why."""

from __future__ import annotations

import asyncio

import pytest

from proctor.domain.errors import BenchmarkError
from proctor.domain.response import Response
from proctor.domain.sample import Sample
from proctor.domain.score import Score
from proctor.puzzles.family import KINDS, make
from proctor.puzzles.puzzle import LEVELS
from proctor.scorers.puzzle import create

SUM = Sample("1", "Compute 40 + 2, with the usual order of operations.\nEnd with: ANSWER: the number", "42")
DAY = Sample("2", "Which day of the week is 18 July 1963 (Gregorian calendar)?\nEnd with", "Thursday")
LIST = Sample("3", "Sort these words alphabetically: honey, apple.", "apple, honey")


def score(sample: Sample, text: str) -> Score:
    return asyncio.run(create().score(sample, Response(text)))


@pytest.mark.parametrize("kind", KINDS)
def test_the_right_answer_is_marked_right_and_the_reason_says_what_was_read(kind: str) -> None:
    for level in LEVELS:
        puzzle = make(11, kind, level, 4)
        given = score(Sample("x", puzzle.question, puzzle.answer), f"Let me see…\nANSWER: {puzzle.answer}")
        assert given.value == 1.0
        assert given.answer == puzzle.answer
        assert "after the last 'ANSWER:'" in given.reason


@pytest.mark.parametrize(
    "text",
    [
        "ANSWER: 42",
        "answer: 42.",
        "**ANSWER:** 42",
        "**ANSWER: 42**",
        "**Answer**: `42`",
        "ANSWER： 42",
        "ANSWER:\n\n42",
        "ANSWER: 41\nNo, I was wrong.\nANSWER: 42",
        "The ANSWER: the number is 42",
        "ANSWER: $42$",
        "40 + 2 = 42",
        "So the sum is 42.",
        "42",
        "ANSWER: 42\n\nI hope this helps!",
    ],
)
def test_a_right_answer_is_found_however_it_is_dressed(text: str) -> None:
    given = score(SUM, text)
    assert (given.value, given.is_invalid) == (1.0, False), given.reason


@pytest.mark.parametrize("text", ["ANSWER: 41", "ANSWER: 42\nANSWER: 24", "The answer is 420.", "41", "ANSWER: -42"])
def test_a_wrong_answer_is_wrong_and_not_invalid(text: str) -> None:
    given = score(SUM, text)
    assert (given.value, given.is_invalid) == (0.0, False)
    assert "differs from '42'" in given.reason


@pytest.mark.parametrize("text", ["", "  \n ", "I cannot say.", "ANSWER:", "ANSWER: the number", "42\nNo idea, sorry"])
def test_a_response_without_an_answer_is_invalid(text: str) -> None:
    given = score(SUM, text)
    assert (given.value, given.is_invalid, given.answer) == (0.0, True, None)
    assert "a number" in given.reason


def test_days_and_lists_are_found_in_a_last_line() -> None:
    assert score(DAY, "Let me count.\nIt was a Thursday.").value == 1.0
    assert score(LIST, "The sorted list: apple, honey").value == 1.0
    assert score(LIST, "Sorted they are apple and honey.").value == 1.0
    assert score(LIST, "apple < honey").value == 1.0
    assert score(LIST, "I would rather not sort these words.").is_invalid
    assert score(LIST, "ANSWER:\n- apple\n- honey").value == 1.0


@pytest.mark.parametrize(
    ("sample", "text"),
    [
        (SUM, "ANSWER: 41 or 42"),
        (SUM, "ANSWER: 42 or 41"),
        (SUM, "It is 41 or 42."),
        (DAY, "ANSWER: Tuesday or Thursday"),
        (DAY, "Either Tuesday or Thursday"),
    ],
)
def test_naming_several_answers_earns_nothing(sample: Sample, text: str) -> None:
    assert score(sample, text).is_invalid
    assert score(LIST, "ANSWER: apple, honey or honey, apple").value == 0.0


def test_a_sample_that_is_no_puzzle_is_not_scored() -> None:
    given = score(Sample("1", "What is the capital of France?", "Paris"), "ANSWER: Paris")
    assert given.value is None


def test_the_scorer_takes_no_options() -> None:
    with pytest.raises(BenchmarkError, match="no option 'tolerance'"):
        create(tolerance=1)
    assert create().name == "puzzle"
