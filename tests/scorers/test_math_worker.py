"""The other process of the maths scorer, asked on this side."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from proctor.scorers import math_worker


def compared(answer: str, *targets: str) -> dict[str, Any]:
    pytest.importorskip("math_verify")
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        return math_worker.compare_expressions(answer, list(targets))
    finally:
        logging.disable(before)


@pytest.mark.parametrize(
    ("answer", "target", "is_equal"),
    [
        ("$\\frac{1}{2}$", "0.5", True),
        ("The answer is 1/2.", "\\frac{1}{2}", True),
        ("f(x) = x^2", "x^2", True),
        ("√4", "2", True),
        ("x = 5", "5", True),
        ("$2x + 3y = 0$", "0", False),
        ("\\boxed{7}", "8", False),
    ],
)
def test_answers_are_compared_as_mathematics(answer: str, target: str, is_equal: bool) -> None:
    assert compared(answer, target).get("is_equal", False) is is_equal


def test_what_cannot_be_read_is_told_apart() -> None:
    assert compared("42", "")["problem"] == "target"
    assert compared("I do not know", "42")["problem"] == "answer"
    assert compared("", "42")["problem"] == "answer"
