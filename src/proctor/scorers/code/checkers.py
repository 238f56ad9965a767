"""Ways to compare what a program printed with what it should have printed."""

from __future__ import annotations

import math
from collections.abc import Callable

Checker = Callable[[str, str], bool]


def _lines(text: str) -> list[str]:
    """Lines without trailing blanks, without empty ones at the end: what every judge forgives."""
    return [line.rstrip() for line in text.rstrip().split("\n")]


def exact(printed: str, expected: str) -> bool:
    """Character for character."""
    return printed == expected


def lines(printed: str, expected: str) -> bool:
    """Line by line; blanks at the end of a line and empty lines at the end of the text do not matter."""
    return _lines(printed) == _lines(expected)


def tokens(printed: str, expected: str) -> bool:
    """Word by word; where a line ends does not matter."""
    return printed.split() == expected.split()


def case_insensitive(printed: str, expected: str) -> bool:
    """Word by word, upper and lower case alike: for YES and NO."""
    return printed.lower().split() == expected.lower().split()


def _is_close(printed: str, expected: str, tolerance: float) -> bool:
    if printed == expected:
        return True
    try:
        value, wanted = float(printed), float(expected)
    except ValueError:
        return False
    return math.isclose(value, wanted, rel_tol=tolerance, abs_tol=tolerance)


def floats(printed: str, expected: str, tolerance: float = 1e-6) -> bool:
    """Word by word; numbers may differ by the tolerance, absolutely or relatively."""
    got, wanted = printed.split(), expected.split()
    return len(got) == len(wanted) and all(_is_close(g, w, tolerance) for g, w in zip(got, wanted, strict=True))


def unordered_lines(printed: str, expected: str) -> bool:
    """The same lines, in any order."""
    return sorted(line for line in _lines(printed) if line) == sorted(line for line in _lines(expected) if line)


def unordered_tokens(printed: str, expected: str) -> bool:
    """The same words, in any order."""
    return sorted(printed.split()) == sorted(expected.split())


CHECKERS: dict[str, Checker] = {
    "case_insensitive": case_insensitive,
    "exact": exact,
    "floats": floats,
    "lines": lines,
    "tokens": tokens,
    "unordered_lines": unordered_lines,
    "unordered_tokens": unordered_tokens,
}
