"""A number is read together with the question it answers."""

from __future__ import annotations

import pytest

from proctor.scorers.numbers import find_numbers
from proctor.scorers.numeric_given import names_numbers, without_given
from proctor.scorers.numeric_reading import read_number

BOXES = "Tom has 4 boxes of 6 eggs. How many eggs has he?"
THEATRE = "A theatre has 14 rows of 20 seats, and 45 are empty. How many are taken?"
ADMISSION = "27 children pay 4 euros each, their teacher nothing. How much do they pay?"
WALL = "In which year did the Berlin Wall fall?"


def _read(question: str, response: str) -> object:
    reading = read_number(response, question=question)
    return None if reading is None or reading.is_range else reading.number.value


@pytest.mark.parametrize(
    "response", ["24. That's 4 boxes of 6.", "24 eggs, 6 in each of the 4 boxes.", "Of 4 and 6 come twenty-four."]
)
def test_numbers_that_only_repeat_the_question_are_not_the_answer(response):
    assert _read(BOXES, response) == 24


def test_a_number_of_the_question_is_the_answer_where_no_other_is_said():
    assert _read(BOXES, "He has 6.") == 6


def test_a_wrong_number_is_read_as_it_is_said():
    assert _read(BOXES, "25. That's 4 boxes of 6.") == 25


@pytest.mark.parametrize("response", ["235 of the 280 seats are taken.", "235 are taken. There are 280 in all."])
def test_the_number_that_takes_most_of_the_question_is_the_answer(response):
    assert _read(THEATRE, response) == 235


def test_what_would_be_so_in_another_case_is_not_the_answer():
    assert _read(ADMISSION, "They pay 108 euros. With the teacher it would be 112 euros.") == 108


def test_a_share_is_the_answer_only_where_one_is_asked_for():
    numbers = [*find_numbers("17, or 62.2%")]
    assert [number.text for number in without_given(numbers, "How many loaves?")] == ["17"]
    assert len(without_given(numbers, "What percentage?")) == 2


@pytest.mark.parametrize(
    "response",
    [
        "The Berlin Wall fell in 1989. Germany was reunified in 1990.",
        "On 9 November 1989.",
        "It was not 1990 but 1989; 1990 is the year of the reunification.",
    ],
)
def test_a_question_of_fact_is_answered_by_the_statement_that_repeats_it(response):
    assert _read(WALL, response) == 1989


def test_a_wrong_year_is_not_taken_back_by_a_later_statement():
    assert _read(WALL, "The Berlin Wall fell in 1990. In 1989 there were protests.") == 1990


def test_numbers_in_words_count_as_given():
    assert names_numbers("Paula buys three books.")
    assert not names_numbers(WALL)
