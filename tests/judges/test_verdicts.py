"""Verdicts are read strictly, and never guessed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.domain.response import FinishReason, Response
from proctor.scorers.judging.rubric import Rubric
from proctor.scorers.judging.verdict import VerdictReading, read_verdict, reasons_in

CODE = "0123456789abcdef"
RUBRIC = Rubric()


def read(text: str, finish: FinishReason = FinishReason.STOP) -> VerdictReading[int | str]:
    return read_verdict(Response(text, finish_reason=finish), CODE, RUBRIC.understand, RUBRIC.allowed)


READABLE = (
    f"VERDICT {CODE}: 4",
    f"It is good.\n\nVERDICT {CODE}: 4",
    f"It is good.\n\n**VERDICT {CODE}: 4**",
    f"It is good.\n\n**VERDICT {CODE}:** 4",
    f"```\nVERDICT {CODE}: 4\n```",
    f"`VERDICT {CODE}: 4`",
    f"### VERDICT {CODE}: **4**",
    f"VERDICT {CODE}: 4/5",
    f"VERDICT {CODE}: [4].",
    f"verdict {CODE.upper()}: 4",
    f"VERDICT {CODE} : 4",
    f"VERDICT {CODE}: 4\n\nThank you.",
    f"VERDICT {CODE}: 4\nVERDICT {CODE}: 4",
    f"The form is VERDICT {CODE}: VALUE.\nVERDICT {CODE}: VALUE\nVERDICT {CODE}: 4",
    f"<think>VERDICT {CODE}: 1, or rather 2?\nVERDICT {CODE}: 1</think>VERDICT {CODE}: 4",
    f"\r\nGood.\r\nVERDICT {CODE}: 4\r\n",
)


@pytest.mark.parametrize("text", READABLE)
def test_prose_code_fences_and_emphasis_do_not_matter(text: str) -> None:
    assert read(text) == VerdictReading(4)


UNREADABLE = (
    ("", "empty"),
    ("I would say four.", "no verdict line"),
    ("VERDICT: 4", "without this request's code"),
    ("VERDICT fedcba9876543210: 4", "without this request's code"),
    (f"> VERDICT {CODE}: 4", "without this request's code"),
    (f"I say VERDICT {CODE}: 4", "no verdict line"),
    (f"VERDICT {CODE}", "without this request's code"),
    (f"VERDICT {CODE}: 4\nVERDICT {CODE}: 5", "contradictory verdicts: 4, 5"),
    (f"VERDICT {CODE}: 6", "'6'"),
    (f"VERDICT {CODE}: 0", "'0'"),
    (f"VERDICT {CODE}: -4", "'-4'"),
    (f"VERDICT {CODE}: 4.5", "'4.5'"),
    (f"VERDICT {CODE}: 4/10", "'4/10'"),
    (f"VERDICT {CODE}: 4 or 5", "'4 or 5'"),
    (f"VERDICT {CODE}: 4 or 5\nVERDICT {CODE}: 4", "'4 or 5'"),
    (f"VERDICT {CODE}: four", "'four'"),
    (f"VERDICT {CODE}: ٤", "'٤'"),
    (f"VERDICT {CODE}: VALUE", "without this request's code"),
    (f"VERDICT {CODE}:", "''"),
    (f"<think>VERDICT {CODE}: 4", "empty"),
)


@pytest.mark.parametrize(("text", "problem"), UNREADABLE)
def test_what_is_not_one_clear_verdict_is_none_and_says_why(text: str, problem: str) -> None:
    reading = read(text)
    assert reading.verdict is None
    assert reading.problem is not None
    assert problem in reading.problem


def test_a_reply_that_was_cut_off_or_filtered_says_so() -> None:
    assert "cut off" in str(read("It is", FinishReason.LENGTH).problem)
    assert "filtered" in str(read("", FinishReason.FILTERED).problem)


@pytest.mark.untraced
@given(st.text())
def test_text_without_the_code_never_holds_a_verdict(text: str) -> None:
    if CODE not in text.lower():
        assert read(text).verdict is None


@given(st.integers(1, 5), st.text(), st.text())
def test_one_verdict_is_found_in_any_prose(mark: int, before: str, after: str) -> None:
    if CODE not in (before + after).lower() and "<" not in before + after:
        assert read(f"{before}\n\nVERDICT {CODE}: {mark}\n{after}").verdict == mark


@given(st.lists(st.integers(1, 5), min_size=1, max_size=4))
def test_several_verdicts_must_agree(marks: list[int]) -> None:
    reading = read("\n".join(f"VERDICT {CODE}: {mark}" for mark in marks))
    assert reading.verdict == (marks[0] if len(set(marks)) == 1 else None)


def test_the_reasons_are_the_reply_without_its_verdict() -> None:
    assert reasons_in(Response(f"Short.\n\nBut  right.\nVERDICT {CODE}: 4"), CODE) == "Short. But right."


@pytest.mark.parametrize("finish", [FinishReason.LENGTH, FinishReason.FILTERED])
def test_a_mark_that_may_be_the_beginning_of_another_is_not_read(finish: FinishReason) -> None:
    scale = Rubric(scale=10)

    def marked(text: str, finish: FinishReason) -> VerdictReading[int | str]:
        return read_verdict(Response(text, finish_reason=finish), CODE, scale.understand, scale.allowed)

    assert marked(f"Good.\nVERDICT {CODE}: 1", FinishReason.STOP).verdict == 1
    cut = marked(f"Good.\nVERDICT {CODE}: 1", finish)
    assert cut.verdict is None
    assert "cut off within its verdict" in str(cut.problem)
    assert marked(f"Good.\nVERDICT {CODE}: 1\nAnd that is", finish).verdict == 1
    assert marked(f"Good.\nVERDICT {CODE}: 1\n", finish).verdict == 1
