# ruff: noqa: S101  a failed assertion is how a test fails
"""EvalPlus' way of comparing an answer with the reference solution's; this file's text runs on the judge's side.

Written from the behaviour of evalplus 0.3: exact equality first, special oracles for tasks with several right answers,
and tolerance only where the expected value is made of floats or the task asks for one.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

MAX_WRITTEN = 20_000
RELATIVE = 1e-07
FLOAT_ABSOLUTE = 1e-6
SET_EQUAL = frozenset(
    [
        "similar_elements",
        "find_char_long",
        "common_in_nested_lists",
        "extract_singly",
        "larg_nnum",
        "intersection_array",
        "find_dissimilar",
        "Diff",
    ]
)
NOT_NONE = frozenset(("check_str", "text_match_three", "text_starta_endb"))


def _is_floats(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return bool(value) and all(isinstance(item, float) for item in value)
    return isinstance(value, float)


def _is_close(value: Any, expected: Any, absolute: float) -> bool:
    if isinstance(expected, list | tuple):
        same = isinstance(value, list | tuple) and len(value) == len(expected)
        return same and all(_is_close(v, e, absolute) for v, e in zip(value, expected, strict=True))
    if value == expected:
        return True
    return bool(abs(value - expected) <= absolute + RELATIVE * abs(expected))


def _pyramid_surface(base_edge: float, height: float) -> int:
    """The height read as the distance from the base to the apex, which the task's text allows."""
    slant = math.sqrt((base_edge / 2) ** 2 + height**2)
    return round(base_edge**2 + 2 * base_edge * slant)


def _digit_distance(first: int, second: int) -> int:
    """The numbers padded to one length, which the task's text allows."""
    width = max(len(str(first)), len(str(second)))
    pairs = zip(str(first).zfill(width), str(second).zfill(width), strict=True)
    return sum(abs(int(a) - int(b)) for a, b in pairs)


def _is_exact(entry_point: str, value: Any, expected: Any, given: list[Any], tolerance: float) -> bool:
    if entry_point in SET_EQUAL:
        return set(value) == set(expected)
    if entry_point in NOT_NONE:
        return bool(value == expected) if isinstance(value, bool) else expected == (value is not None)
    if value == expected or entry_point == "are_equivalent":
        return True
    if entry_point == "sum_div":
        return bool(value == 0)
    if entry_point == "surface_Area":
        return bool(abs(value - _pyramid_surface(*given)) <= tolerance)
    if entry_point == "digit_distance_nums":
        return bool(value == _digit_distance(*given))
    return False


class OutputComparison:
    """Compares one input after the other; once floats were expected, the tolerance for floats stays, as in evalplus."""

    def __init__(self, entry_point: str, candidate: Callable[..., Any], tolerance: float, is_mbpp: bool) -> None:
        self.entry_point, self.candidate, self.tolerance, self.is_mbpp = entry_point, candidate, tolerance, is_mbpp

    def run_with_gold(self, given: list[Any], gold: Callable[..., Any]) -> None:
        expected = gold(*copy.deepcopy(given))
        self.run(given, expected is not None if self.entry_point in NOT_NONE else expected)

    def run(self, given: list[Any], expected: Any) -> None:
        value = self.candidate(*copy.deepcopy(given))
        if self.entry_point == "find_zero" and not self.is_mbpp:
            (coefficients,) = given
            assert abs(sum(c * math.pow(value, power) for power, c in enumerate(coefficients))) <= self.tolerance
            return
        is_exact = (
            _is_exact(self.entry_point, value, expected, given, self.tolerance)
            if self.is_mbpp
            else bool(value == expected)
        )
        if self.tolerance == 0 and _is_floats(expected):
            self.tolerance = FLOAT_ABSOLUTE
        if not is_exact and self.tolerance != 0:
            assert type(value) is type(expected), f"expected {expected!r:.300}"
            is_exact = _is_close(value, expected, self.tolerance)
        assert is_exact, f"expected {expected!r:.300}"


def answers(gold: Callable[..., Any], entry_point: str, inputs: list[Any]) -> list[str] | None:
    """The reference solution's answers as Python text; None when one of them cannot be written so."""
    texts: list[str] | None = []
    for given in inputs:
        value = gold(*copy.deepcopy(given))
        text = _written(value, entry_point)
        if texts is not None:
            texts = None if text is None else [*texts, text]
    return texts


def _written(value: Any, entry_point: str) -> str | None:
    # What these return cannot be written down; that they return something is all that counts.
    value = value is not None if entry_point in NOT_NONE else value
    try:
        text = repr(value)
        if len(text) > MAX_WRITTEN:
            return None  # before reading it again, which takes minutes where an answer has millions of parts
        again = eval(text, {"inf": math.inf, "nan": math.nan})  # noqa: S307  our own text
    except (ValueError, NameError, SyntaxError, TypeError, RecursionError, MemoryError):
        return None
    return text if type(again) is type(value) and repr(again) == text else None
