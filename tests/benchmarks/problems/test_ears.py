"""Requirement sentences."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.benchmarks.problems.ears import VAGUE, WORDS, Pattern, read_sentence
from proctor.domain.problem import Level

FITTING = [
    ("The program MUST print its version.", Pattern.UBIQUITOUS),
    ("The key-value store MUST NOT lose a write.", Pattern.UBIQUITOUS),
    ("When a text arrives, the program MUST print the number of its words.", Pattern.EVENT),
    ("When a GET request for `/a, b` arrives, the service SHALL answer with 200.", Pattern.EVENT),
    ("While a job is running, the service MUST answer with 202.", Pattern.STATE),
    ("Where the option --json is given, the program MUST print JSON.", Pattern.OPTION),
    ("If the file is missing, then the program MUST end with exit code 2.", Pattern.UNWANTED),
    ("If a name is empty, too long, or taken, then the service MUST NOT store it.", Pattern.UNWANTED),
    ("While the queue is full, when a job arrives, the service MUST answer with 503.", Pattern.COMPLEX),
    ("Where caching is on, while a value is fresh, when it is asked for, the cache MUST return it.", Pattern.COMPLEX),
    ("While the disk is full, if a write fails, then the store MUST keep the old value.", Pattern.COMPLEX),
    ("When a line says 'MUST', the program MUST print it.", Pattern.EVENT),
]


@pytest.mark.parametrize(("text", "pattern"), FITTING)
def test_sentences_fit_their_pattern(text: str, pattern: Pattern) -> None:
    reading = read_sentence(text, Level.MUST)
    assert reading.problems == ()
    assert reading.warnings == ()
    assert reading.pattern is pattern
    assert reading.level is Level.MUST


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("It MUST work.", "fits no EARS pattern"),
        ("Users MUST be able to log in.", "fits no EARS pattern"),
        ("the program MUST print.", "begins with 'The'"),
        ("As soon as a text arrives, the program MUST print it.", "fits no EARS pattern"),
        ("When a text arrives the program MUST print it.", "fits no EARS pattern"),
        ("If the file is missing, the program MUST end.", "after 'If …,' comes 'then the X'"),
        ("When it is asked, then the program MUST answer.", "'then' belongs to 'If', not to 'When'"),
        ("When it is asked, The program MUST answer.", "'the' is written small"),
        ("The program MUST print and it MUST end.", "one level word, this one has 2: MUST, MUST"),
        ("The program must print.", "written in capitals: MUST, not must"),
        ("The program prints.", "no level word"),
        ("The program MUST.", "nothing follows MUST"),
        ("The program SHOULD print.", "says SHOULD, the declared level is MUST"),
        ("The program MAY print.", "says MAY, the declared level is MUST"),
        ("", "no level word"),
    ],
)
def test_sentences_that_fit_none_say_why(text: str, problem: str) -> None:
    reading = read_sentence(text, Level.MUST)
    assert any(problem in said for said in reading.problems), reading


@pytest.mark.parametrize(("word", "level"), WORDS.items())
def test_every_level_word_belongs_to_one_level(word: str, level: Level) -> None:
    text = f"The program {word} print."
    assert read_sentence(text, level).problems == ()
    for other in set(Level) - {level}:
        assert read_sentence(text, other).problems == (f"the sentence says {word}, the declared level is {other}",)


@pytest.mark.parametrize("word", VAGUE)
def test_vague_words_are_warned_of(word: str) -> None:
    reading = read_sentence(f"The program MUST give {word} answers.", Level.MUST)
    assert reading.problems == ()
    assert any(word in warning for warning in reading.warnings)


def test_parts_of_words_and_quoted_words_are_not_vague() -> None:
    text = 'When `fast` or "etc." is given, the program MUST print breakfast, fast-forward and fetched.'
    assert read_sentence(text, Level.MUST).warnings == ()


def test_a_second_obligation_in_small_letters_is_warned_of() -> None:
    reading = read_sentence("The program MUST print and then must end.", Level.MUST)
    assert reading.warnings == ("a second 'must', in small letters, may hide another requirement",)


def test_a_missing_full_stop_is_warned_of() -> None:
    assert "full stop" in read_sentence("The program MUST print", Level.MUST).warnings[0]


PHRASE = st.from_regex(r"\A[a-z]{3,8}( [a-z]{3,8}){1,5}\Z").filter(
    lambda text: not {"must", "shall", "when", "where", "while", "then"} & set(text.split())
)


@given(PHRASE, PHRASE, PHRASE, st.sampled_from(["When", "While", "Where", "If"]), st.sampled_from(sorted(WORDS)))
def test_every_sentence_made_by_the_rules_fits(a: str, system: str, b: str, condition: str, word: str) -> None:
    then = "then " if condition == "If" else ""
    expected = {
        "When": Pattern.EVENT,
        "While": Pattern.STATE,
        "Where": Pattern.OPTION,
        "If": Pattern.UNWANTED,
    }
    reading = read_sentence(f"{condition} {a}, {then}the {system} {word} {b}.", WORDS[word])
    assert reading.problems == ()
    assert reading.pattern is expected[condition]


@given(st.text(max_size=300), st.sampled_from(Level))
def test_any_text_at_all_is_read_without_an_error(text: str, level: Level) -> None:
    reading = read_sentence(text, level)
    assert reading.pattern is not None or reading.problems


@given(st.text(alphabet="`'\", TheMUSTifn.", max_size=400), st.sampled_from(Level))
def test_texts_of_the_grammars_own_letters_are_read_too(text: str, level: Level) -> None:
    reading = read_sentence(text, level)
    assert reading.pattern is not None or reading.problems
