"""Numbers as text that never rounds across a meaning: 1 only for 1, 0 only for 0, and the side of a limit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from proctor.metrics.power import ALPHA

SAME = 1e-9
"""Two numbers nearer to one another than this are one number: sums of fractions are not exact."""
MAX_DIGITS = 12
SMALLEST_P = 0.0005
"""Below, only this is said: p < 0.001."""


def decimal_text(value: float, places: int = 3, *, limits: Iterable[float] = (0.0, 1.0), sign: str = "") -> str:
    """With so many decimals, and with more where fewer would put it on another side of a limit, or on it.

    `decimal_text(2999 / 3000)` is 0.9997; `sign="+"` writes the sign of what is not negative too.
    """
    return _first_true(value, limits, (f"{sign}.{digits}f" for digits in range(places, MAX_DIGITS)))


def figure_text(value: float, digits: int = 4, *, limits: Iterable[float] = (0.0, 1.0), form: str = "") -> str:
    """The same with so many significant digits, and no zeros at the end; `form=","` puts commas between thousands."""
    return _first_true(value, limits, (f"{form}.{more}g" for more in range(digits, MAX_DIGITS + 5)))


def _first_true(value: float, limits: Iterable[float], forms: Iterator[str]) -> str:
    """The shortest of the forms that stands to every limit as the value does."""
    known = tuple(limits)
    # What is a limit but for the last bits is shown as the limit; adding 0 takes the sign from a zero.
    exact = next((limit for limit in known if abs(value - limit) <= SAME), value) + 0.0
    text = ""
    for form in forms:
        text = f"{exact:{form}}"
        shown = float(text.replace(",", ""))
        if all(_side(shown, limit) == _side(exact, limit) for limit in known):
            break
    return text


def _side(value: float, limit: float) -> int:
    return 0 if abs(value - limit) <= SAME / 10 else 1 if value > limit else -1


def difference_text(value: float) -> str:
    """`+0.031`; +0.000 only where there is none."""
    return decimal_text(value, limits=(-1.0, 0.0, 1.0), sign="+")


def points_text(difference: float, places: int = 1) -> str:
    """A difference without its sign in points: 3.1 for 0.031."""
    return decimal_text(100 * abs(difference), places, limits=(0.0, 100.0))


def percent_text(share: float, places: int = 1) -> str:
    """`1.5 %`; 0.0 % only for none and 100.0 % only for all."""
    return f"{decimal_text(100 * share, places, limits=(0.0, 100.0))} %"


def p_text(p_value: float) -> str:
    """`0.006`, or `< 0.001`; on the same side of 0.05 as the number."""
    return "< 0.001" if p_value < SMALLEST_P else decimal_text(p_value, limits=(0.0, ALPHA, 1.0))
