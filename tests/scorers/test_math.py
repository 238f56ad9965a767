from __future__ import annotations

import pytest

pytest.importorskip("math_verify")

from proctor.domain.errors import BenchmarkError
from proctor.scorers import math
from proctor.scorers.math_process import MathProcess
from scorers.scoring import score


@pytest.mark.parametrize(
    ("text", "target", "value"),
    [
        (r"So we get $\boxed{\frac{1}{2}}$.", "0.5", 1),
        (r"The answer is $x^2+2x+1$.", "(x+1)^2", 1),
        (r"\boxed{2\sqrt{3}}", r"\sqrt{12}", 1),
        (r"\boxed{(1,2)}", "(1,2)", 1),
        (r"\boxed{\$20}", r"\$20", 1),
        (r"\boxed{\$20}", r"\$21", 0),
        (r"\boxed{7}", "8", 0),
        (r"\boxed{20x + 23y - 69 = 0}", "0", 0),
        (r"\boxed{20x + 23y - 69 = 0}", "20x + 23y - 69 = 0", 1),
        (r"\boxed{x = 5}", "5", 1),
        (r"\boxed{5}", "x = 5", 1),
        (r"\boxed{x+1}", "x-1", 0),
    ],
)
def test_expressions_are_compared_by_meaning(text, target, value):
    assert score(math.create(), text, target).value == value


def test_a_response_without_an_expression_is_invalid():
    assert score(math.create(), "no idea", "3").is_invalid


def test_an_expression_that_hangs_is_killed_and_the_next_one_works():
    process = MathProcess()
    try:
        assert process.compare(r"\boxed{3}", ("3",), 30).is_equal
        first = process._process.pid
        assert process.compare(r"\boxed{9^{9^{9^{9^{9}}}}}", ("5",), 1).problem == "time"
        assert process.compare(r"\boxed{3}", ("3",), 30).is_equal
        second = process._process.pid
        assert first != second
        assert not process.compare(r"\boxed{3}", ("4",), 30).is_equal
        assert process._process.pid == second, "a process that did not hang is used again"
    finally:
        process.close()


def test_the_time_limit_must_be_sensible():
    with pytest.raises(BenchmarkError):
        math.create(timeout_seconds=0)
