"""What a question asks for is found as if a sentence could begin at every character."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from proctor.scorers.asked_words import last_question
from proctor.scorers.compound_amounts import join_amounts
from proctor.scorers.numeric import _target
from proctor.scorers.numeric_reading import read_number

ANYWHERE = re.compile(r"[^.!?。！？\n]*[?？]|[^。\n]*か。")


@given(st.text("ab .!?。！？\nか", max_size=14))
def test_the_last_question_is_the_one_that_a_slower_search_finds(text: str) -> None:
    slower = ANYWHERE.findall(text)
    assert last_question(text) == (slower[-1] if slower else text)


def test_amounts_and_halves_are_found_wherever_their_words_stand() -> None:
    assert join_amounts("It takes 1 hour 30 minutes.", "How many minutes?") == "It takes 90 minutes."
    assert join_amounts("It takes 1 hour 30 minutes.", "How many shops?") == "It takes 1 hour 30 minutes."
    assert join_amounts("Two EUROS and 50 cents", "") == "2.5 EUROS"
    assert join_amounts("UN LITRE ET DEMI", "") == "1.5 LITRE"
    assert join_amounts("2 y media", "") == "2.5"
    assert join_amounts("3 ein halb", "") == "3.5"


@given(st.from_regex(r"[0-9]{1,15}", fullmatch=True))
def test_a_target_of_plain_digits_is_the_number_that_would_be_read_from_it(digits: str) -> None:
    read = read_number(digits)
    found = _target(digits)
    assert read is not None
    assert found is not None
    assert not read.is_range
    assert (found.value, found.text, found.factor) == (read.number.value, read.number.text, read.number.factor)
