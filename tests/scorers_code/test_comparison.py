"""EvalPlus' way of comparing, on this side: exact first, its special oracles, and tolerance only where it has some."""

from __future__ import annotations

from typing import Any

import pytest

from proctor.scorers.code.evalplus_judge import FLOAT_ABSOLUTE, OutputComparison, answers


def compared(
    name: str, given: list[Any], value: Any, expected: Any, *, tolerance: float = 0, mbpp: bool = True
) -> bool:
    comparison = OutputComparison(name, lambda *_: value, tolerance, mbpp)
    try:
        comparison.run(given, expected)
    except AssertionError:
        return False
    return True


@pytest.mark.parametrize(
    ("name", "given", "value", "expected", "is_equal"),
    [
        ("f", [1], 2, 2, True),
        ("f", [1], 2, 3, False),
        ("f", [1], 0.1 + 0.2, 0.3, True),
        ("f", [1], [0.1 + 0.2], [0.3], True),
        ("f", [1], [0.1 + 0.2, 1.0], [0.3], False),
        ("f", [1], 1, 1.0000001, False),
        ("f", [1], (0.3,), [0.3], False),
        ("similar_elements", [1], (2, 1), (1, 2), True),
        ("similar_elements", [1], (2, 1), (1, 3), False),
        ("check_str", [1], "match", True, True),
        ("check_str", [1], None, True, False),
        ("check_str", [1], True, True, True),
        ("are_equivalent", [1, 2], False, True, True),
        ("sum_div", [1], 0, 1, True),
        ("sum_div", [1], 2, 1, False),
        ("surface_Area", [3, 4], 34, 33, True),
        ("surface_Area", [3, 4], 40, 33, False),
        ("digit_distance_nums", [1, 256], 12, 7, True),
        ("digit_distance_nums", [1, 256], 11, 7, False),
    ],
)
def test_an_answer_is_compared_as_evalplus_compares_it(
    name: str, given: list[Any], value: Any, expected: Any, is_equal: bool
) -> None:
    tolerance = 1.0 if name == "surface_Area" and is_equal else 0
    assert compared(name, given, value, expected, tolerance=tolerance) is is_equal


def test_a_root_is_right_when_it_is_one() -> None:
    assert compared("find_zero", [[-6.0, 3.0]], 2.0, None, tolerance=1e-4, mbpp=False)
    assert not compared("find_zero", [[-6.0, 3.0]], 2.5, None, tolerance=1e-4, mbpp=False)
    assert compared("f", [1], 2, 2, mbpp=False)


def test_the_tolerance_of_floats_stays_once_floats_were_expected() -> None:
    found = iter([0.5, 1 + 1e-9, 1 + 1e-3])
    comparison = OutputComparison("f", lambda *_: next(found), 0, True)
    comparison.run([1], 0.5)
    assert comparison.tolerance == FLOAT_ABSOLUTE
    comparison.run([2], 1.0)
    with pytest.raises(AssertionError, match=r"expected 1\.0"):
        comparison.run([3], 1.0)


def test_the_reference_is_asked_where_its_answers_cannot_be_written() -> None:
    assert answers(lambda x: [x, 1.5, {"a": None}], "f", [[1], ["x"]]) == [
        "[1, 1.5, {'a': None}]",
        "['x', 1.5, {'a': None}]",
    ]
    assert answers(lambda x: object(), "f", [[1]]) is None
    assert answers(lambda x: object() if x else None, "check_str", [[1], [0]]) == ["True", "False"]
    assert answers(lambda x: [float("nan"), float("inf")], "f", [[1]]) == ["[nan, inf]"]
    assert answers(lambda x: "y" * 30_000, "f", [[1]]) is None
    comparison = OutputComparison("f", lambda x: x + 1, 0, True)
    comparison.run_with_gold([1], lambda x: x + 1)
    with pytest.raises(AssertionError, match="expected 3"):
        comparison.run_with_gold([1], lambda x: x + 2)
