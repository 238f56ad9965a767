"""What a search finds: exactly what its sentence says, and what an index leaves in is never too little."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from proctor.domain.text_query import MAX_WORD, TextQuery, fold, words_of

LETTERS = "aAbBé É\n\t _-7ß½Ａａ東京都かガｶﾞ한国ไทยſKΣσς'́"
texts = st.text(LETTERS, max_size=12)


def finds(typed: str, text: str) -> bool:
    return TextQuery(typed).matches(fold(text))


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        ("light", "A Lighthouse."),
        ("house light", "the house\n  light"),
        ("ANSWER: 42", "Answer: 42 km"),
        ("STRASSE", "in der Straße"),
        ("ABC", "ＡＢＣ定食"),
        ("京", "東京都"),
        ("京都", "東京都へ"),
        ("var", "my_var = 1"),
        ("3.14", "pi is 3.14159"),
        ("=> {", "x => {}"),
        ("กิน", "ฉันกินข้าว"),
        ("é", "E\u0301tude"),
    ],
)
def test_it_is_found_whatever_its_case_width_and_spaces(typed: str, text: str) -> None:
    assert finds(typed, text)


@pytest.mark.parametrize(
    ("typed", "text"),
    [("house", "lighthouse"), ("42", "142"), ("a b", "a, b"), ("京東", "東京"), ("red car", "bored car")],
)
def test_it_is_not_found_within_a_word_or_in_another_order(typed: str, text: str) -> None:
    assert not finds(typed, text)


def test_a_later_place_is_looked_at_where_an_earlier_one_is_within_a_word() -> None:
    assert finds("red car", "bored car, red car")


@given(texts, texts)
@example("a" * MAX_WORD, "a" * (MAX_WORD + 3))
@example("a" * (MAX_WORD + 1), "a" * (MAX_WORD + 3))
def test_every_text_that_matches_has_every_term(typed: str, text: str) -> None:
    query, folded = TextQuery(typed), fold(text)
    words = words_of(folded)
    has_all = all(
        any(word.startswith(term.word) if term.is_prefix else word == term.word for word in words)
        for term in query.terms
    )
    if query.matches(folded):
        assert has_all
    if query.is_one_word:
        assert query.matches(folded) == has_all


@given(st.text("abc d", max_size=8), st.text("abc d", max_size=20))
def test_in_plain_words_it_is_a_search_from_a_words_beginning(typed: str, text: str) -> None:
    wanted = re.escape(" ".join(typed.split()))
    start = r"\b" if wanted else ""
    assert finds(typed, text) == bool(re.search(start + wanted, " ".join(text.split())))
