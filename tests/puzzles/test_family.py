"""Puzzles: made the same everywhere, solved from their text, checked by meaning."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta
from hashlib import blake2b
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proctor.puzzles.dates import date_of, day_number
from proctor.puzzles.dice import Dice
from proctor.puzzles.family import KINDS, check, find_answer, make, reading_of, solve
from proctor.puzzles.puzzle import LEVELS

EVERY = [(kind, level) for kind in KINDS for level in LEVELS]
every_kind_and_level = pytest.mark.parametrize(("kind", "level"), EVERY)


@every_kind_and_level
def test_thousands_of_puzzles_are_solved_from_their_text_alone(kind: str, level: int) -> None:
    for number in range(300):
        puzzle = make(number * 7919, kind, level, number)
        assert (puzzle.kind, puzzle.level) == (kind, level)
        assert solve(puzzle.question) == puzzle.answer
        assert check(puzzle.question, puzzle.answer)
        assert "End with: ANSWER: " in puzzle.question


@every_kind_and_level
def test_the_answers_of_other_puzzles_are_refused_unless_they_are_equal(kind: str, level: int) -> None:
    puzzles = [make(1, kind, level, number) for number in range(40)]
    for puzzle in puzzles:
        for other in puzzles:
            is_same = _normal(other.answer) == _normal(puzzle.answer)
            assert check(puzzle.question, other.answer) == is_same


def _normal(answer: str) -> object:
    return frozenset(answer.split(", ")) if re.match(r"[A-Z]\w+, ", answer) else answer


@every_kind_and_level
def test_a_nearly_right_answer_is_refused(kind: str, level: int) -> None:
    for number in range(50):
        puzzle = make(3, kind, level, number)
        for wrong in _nearly(puzzle.answer):
            assert not check(puzzle.question, wrong), (puzzle.question, wrong)


def _nearly(answer: str) -> list[str]:
    if re.fullmatch(r"-?\d+", answer):
        number = int(answer)
        return [str(number + 1), str(number - 1), f"{number}.5", f"{number}0" if number else "10", f"{number} {number}"]
    if re.fullmatch(r"\d{4}-\d\d-\d\d", answer):
        day = date.fromisoformat(answer)
        return [(day + timedelta(days=step)).isoformat() for step in (-1, 1, 365)]
    if answer in ("true", "false"):
        return ["false" if answer == "true" else "true", "true or false"]
    items = answer.split(", ")
    if len(items) > 1:
        return [", ".join(items[:-1]), f"{answer}, extra"]
    return [f"{answer}x", answer[1:]]


@every_kind_and_level
def test_a_level_has_far_more_puzzles_than_a_run_asks(kind: str, level: int) -> None:
    questions = {make(5, kind, level, number).question for number in range(1000)}
    assert len(questions) > 900


def test_the_puzzles_of_a_seed_are_these_for_ever() -> None:
    assert make(42, "arithmetic", 2, 0).question.startswith(ARITHMETIC_2)
    assert [make(42, kind, 3, 0).answer for kind in KINDS] == ANSWERS_3


ARITHMETIC_2 = "Compute 6 * (5 * 3), with"
ANSWERS_3 = [
    "260",
    "2040-05-27",
    "false",
    "219",
    "autumn, carbon, cherry, lantern, rocket, shelter, silver, yellow",
    "gdzdycnxk",
]


def splitmix64(state: int) -> Iterator[int]:
    """As its author wrote it."""
    while True:
        state = (state + 0x9E3779B97F4A7C15) % 2**64
        mixed = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB % 2**64
        yield mixed ^ (mixed >> 31)


def test_dice_are_splitmix64() -> None:
    published = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    assert list(islice(splitmix64(1234567), 3)) == published
    seed = int.from_bytes(blake2b(b"x\x001", digest_size=8).digest(), "big")
    dice = Dice("x", 1)
    assert [dice.below(2**64) for _ in range(3)] == list(islice(splitmix64(seed), 3))


@given(st.integers(1, 10**6), st.integers())
def test_dice_stay_within_their_bounds(bound: int, seed: int) -> None:
    dice = Dice(seed)
    assert 0 <= dice.below(bound) < bound
    assert -bound <= dice.between(-bound, bound) <= bound
    drawn = dice.sample(range(20), 20)
    assert sorted(drawn) == list(range(20))


def test_dice_are_fair() -> None:
    dice, counts = Dice(1), [0] * 6
    for _ in range(60_000):
        counts[dice.below(6)] += 1
    assert max(abs(count - 10_000) for count in counts) < 450  # five standard deviations


@given(st.dates())
def test_the_solvers_calendar_is_the_standard_one(day: date) -> None:
    assert date_of(day_number(day.year, day.month, day.day)) == (day.year, day.month, day.day)
    assert day_number(day.year, day.month, day.day) - day_number(1, 1, 1) == day.toordinal() - 1


def test_a_puzzle_is_found_inside_a_whole_prompt() -> None:
    puzzle = make(1, "logic", 5, 3)
    assert solve(f"You are careful.\n\n{puzzle.question}\n") == puzzle.answer
    assert solve("What is the capital of France?") is None
    with pytest.raises(ValueError, match="not a puzzle"):
        check("What is the capital of France?", "Paris")


DATE = "Which date is 5 days after 1 March 2021 (Gregorian calendar)?"
SORT = "Sort these numbers from smallest to largest: 3, -1, 20."
KNIGHTS = (
    "Each of these people is a knight, who always tells the truth, or a knave, who always lies: Leo, Noor, Eve.\n"
    "Leo says: Eve and Noor are different.\nNoor says: Leo is a knave.\n"
    "Eve says: Leo is a knight.\nWho are the knights?"
)
SUM = "Compute 600 + 634, with the usual order of operations."
WORD = "Take the letters 'bcd' and reverse their order.\nEnd with"
TRUTH = "Is this true or false ('not' binds closest): not (true and false)?"


@pytest.mark.parametrize(
    ("question", "answer", "is_right"),
    [
        (DATE, "2021-03-06", True),
        (DATE, "6 March 2021", True),
        (DATE, "March 6, 2021", True),
        (DATE, "Mar. 6th, 2021", True),
        (DATE, "the 6th of March 2021", True),
        (DATE, "06.03.2021", True),
        (DATE, "2021/3/6", True),
        (DATE, "06/03/2021", False),  # March or June: not a readable answer
        (DATE, "2021-06-03", False),
        (DATE, "6 March 2020", False),
        (SORT, "[-1, 3, 20]", True),
        (SORT, "-1 3 20", True),
        (SORT, "−1,3,20", True),
        (SORT, "-1; 3; 20", True),
        (SORT, "-1, 3, and 20.", True),
        (SORT, "1. -1\n2. 3\n3. 20", True),
        (SORT, "3, -1, 20", False),
        (SORT, "-1, 3", False),
        (SORT, "20, 3, -1", False),
        (KNIGHTS, "Eve and Leo", True),
        (KNIGHTS, "{leo, eve}", True),
        (KNIGHTS, "Leo", False),
        (KNIGHTS, "nobody", False),
        (SUM, "1,234", True),
        (SUM, "1234.0", True),
        (SUM, "x = 1234", True),
        (SUM, "1 234", True),
        (SUM, "1234.5", False),
        (SUM, "-1234", False),
        (SUM, "12345", False),
        (SUM, "1,23,4", False),
        (WORD, "'dcb'", True),
        (WORD, "DCB", True),
        (WORD, "d c b", False),
        (TRUTH, "True.", True),
        (TRUTH, "false", False),
    ],
)
def test_answers_count_by_what_they_mean(question: str, answer: str, is_right: bool) -> None:
    assert check(question, answer) is is_right


@pytest.mark.untraced
@given(st.text(max_size=200), st.sampled_from([DATE, SORT, KNIGHTS, SUM, WORD, TRUTH]))
@settings(max_examples=300)
def test_nothing_a_model_may_write_breaks_the_reader(text: str, question: str) -> None:
    reading = reading_of(question)
    assert reading is not None
    for response in (text, f"ANSWER: {text}", f"{text}\n**Answer:** {text}"):
        find_answer(response, reading)
        assert check(question, response) in (True, False)
