"""The other process of the maths scorer, asked on this side."""

from __future__ import annotations

import json
import logging
import os
import sys
from typing import Any

import pytest

from proctor.scorers import math_worker
from sandboxes.measuring import in_child

LIBRARY = "math_verify"


def compared(answer: str, *targets: str) -> dict[str, Any]:
    library = pytest.importorskip(LIBRARY)
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        return math_worker._compare(library, answer, list(targets))
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


def test_the_worker_says_when_it_is_ready_and_answers_line_by_line() -> None:
    pytest.importorskip(LIBRARY)
    asked, answered = os.memfd_create("questions"), os.memfd_create("answers")
    os.write(asked, json.dumps({"answer": "$2$", "targets": ["2"]}).encode() + b"\n")
    os.lseek(asked, 0, os.SEEK_SET)

    def work() -> None:
        os.dup2(answered, 1)
        with os.fdopen(asked, "r") as questions:
            sys.stdin = questions
            math_worker.main()

    assert in_child(work) == 0
    ready, answer = os.pread(answered, 1_000, 0).splitlines()
    os.close(asked)
    os.close(answered)
    assert ready == b"ready"
    assert json.loads(answer) == {"is_equal": True, "answer": "2"}
