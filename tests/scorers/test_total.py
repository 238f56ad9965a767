"""Whatever a response says, a text scorer gives a value or calls it invalid: a response that could make its scorer fail
would leave the score."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proctor.domain.response import FinishReason, Response
from proctor.domain.sample import Sample
from proctor.domain.scorer import Scorer
from proctor.puzzles.family import KINDS, make
from proctor.scorers import numeric, puzzle
from proctor.scorers.numeric_ending import MAX_NUMBERS
from proctor.scorers.numeric_roles import role_of
from scorers.scoring import score
from scorers.test_contract import NAMES, _make, _response, _sample, _score

CPU_SECONDS = 60
"""More than any scorer needs for a megabyte, in computing time: a busy machine is no fault."""
NINES = "9" * 6000
NUMBERS = [
    NINES, f"The answer is {NINES}.", f"{NINES}/3", f"1/{NINES}", f"{NINES} %", f"{NINES}e5", "9" * 399 + "e999",
    "9" * 390 + "½", "9" * 399 + " 1/3", "1e999999999", "1e-999999999", "0.00001e3", "0.00001 × 10^3", "1/0", "0/0",
    rf"\boxed{{{NINES}}}", rf"\frac{{{NINES}}}{{0}}", r"\frac{1}{0}", "9^{9^{9^{9^9}}}", f"10^{NINES}",
    "2**" * 500 + "2",
    "九" * 7000, "一万" * 5000, "١٨", "𝟙𝟠", "๑๘ ①② Ⅷ ½ ⅚",
]  # fmt: skip
TEXTS = [
    "\ud800 half", "answer \udfff is \ud83d", "\x00" * 100, "a\x00b 18", "\u202e18\u202c", "\ufeff18",
    "[" * 100_000, "{" * 100_000, '{"a":' * 5000 + "1" + "}" * 5000, "[" * 600 + "]" * 600, f'{{"a": {NINES}}}',
    '{"a": 1e99999}', r'{"a": "\ud800"}', f"[f(x={NINES})]", "[f(x=" + "[" * 500 + "]" * 500 + ")]", "f(" * 2000,
    r"\sqrt{" * 3000, r"\frac{" * 5000, r"\boxed{" * 5000,
]  # fmt: skip
PIECES = [
    "x",
    "a b ",
    "18 ",
    "not A ",
    "answer ",
    "東京",
    "서울 ",
    "**",
    "`",
    "~",
    "```\n",
    "(",
    "1,",
    "I can't ",
    "3 × 4 = ",
    "A) ",
]


@contextmanager
def _limited_cpu() -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TimeoutError(f"a scorer took more than {CPU_SECONDS} s of computing time")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, CPU_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


@cache
def _scorer(name: str) -> Scorer:
    return _make(name, {"timeout_seconds": 0.5} if name == "math" else {})


def _check(name: str, text: str, **changes: Any) -> None:
    with _limited_cpu():
        said = _score(_scorer(name), _sample(name), _response(name, text, **changes))
    assert said.value is not None, f"{name} measured nothing in {text[:30]!r}: {said.reason}"
    assert 0 <= said.value <= 1


QUICK = [name for name in NAMES if name not in ("math", "similarity")]


@pytest.mark.untraced
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("texts", [NUMBERS, TEXTS], ids=["numbers", "texts"])
def test_hostile_texts_are_scored_by_every_scorer(name, texts):
    for text in texts:
        _check(name, text)


@pytest.mark.untraced
@pytest.mark.parametrize("name", QUICK)
def test_a_megabyte_is_scored_by_every_scorer(name):
    for piece in PIECES:
        _check(name, piece * (1_000_000 // len(piece)))


@pytest.mark.parametrize(
    "piece", ["٣ ", "1,", "7-", "7% ", "1万", "and 7 ", "7 = ", "seven ", "if 7, ", "7; it would be "]
)
def test_how_often_numbers_are_looked_at_does_not_grow_with_the_text(piece):
    looked: list[int] = []
    for size in (20_000, 200_000):
        role_of.cache_clear()
        score(numeric.create(), piece * (size // len(piece)), "8", question="How many bags of 6 does she fill?")
        looked.append(role_of.cache_info().misses)
    assert max(looked) <= 4 * MAX_NUMBERS
    assert looked[1] <= looked[0] + MAX_NUMBERS


FRAGMENTS = st.one_of(
    st.text(st.characters(), max_size=40),  # halves of characters and controls among them
    st.from_regex(r"-?[0-9]{1,40}([.,/][0-9]{1,20})?(e[0-9]{1,12}|%| million)?", fullmatch=True),
    st.sampled_from(
        [
            "answer is ",
            "\\boxed{",
            "\\frac{1}{",
            "}",
            "{",
            "[",
            "```\n",
            "A)",
            "not ",
            "ではなく",
            "가 아니라",
            "½",
            "٣",
        ]
    ),
)
HOSTILE = st.lists(st.tuples(FRAGMENTS, st.integers(1, 60)), max_size=8).map(
    lambda pairs: "".join(piece * count for piece, count in pairs)
)


@pytest.mark.untraced
@given(text=HOSTILE, is_cut=st.booleans())
@settings(max_examples=100)
def test_no_text_makes_any_scorer_raise(text, is_cut):
    for name in QUICK:
        _check(name, text, finish_reason=FinishReason.LENGTH if is_cut else FinishReason.STOP)


def test_numbers_too_long_for_arithmetic_are_told_apart():
    assert score(numeric.create(), f"The answer is {NINES}.", NINES).value == 1
    assert score(numeric.create(), "8" * 6000, NINES).value == 0
    assert score(numeric.create(), NINES, "18").value == 0


@pytest.mark.untraced
@pytest.mark.parametrize("kind", KINDS)
def test_hostile_texts_are_scored_as_answers_to_puzzles(kind):
    made = make(1, kind, 1, 1)
    for text in [*NUMBERS, *TEXTS, *(piece * 10_000 for piece in PIECES)]:
        with _limited_cpu():
            assert (
                _score(puzzle.create(), Sample("1", made.question, made.answer), Response(f"ANSWER: {text}")).value
                is not None
            )
