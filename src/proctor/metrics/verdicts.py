"""What a comparison says, in words."""

from __future__ import annotations

import math

from proctor.metrics.compare import Comparison

TARGET = 0.02
"""The difference people usually hope to see: two points."""


def verdict(comparison: Comparison, *, target: float = TARGET) -> str:
    """'B is better by 3.1 points [0.9, 5.3], p = 0.006', or what would be needed to say so."""
    difference = comparison.difference
    if difference.value is None:
        return "nothing to compare: no sample was answered by both"
    if not comparison.is_shown or difference.low is None or difference.high is None:
        return _not_shown(comparison, target)
    bounds = sorted((abs(difference.low), abs(difference.high)))
    digits = _digits(bounds[0])
    size, low, high = (f"{100 * x:.{digits}f}" for x in (abs(difference.value), *bounds))
    corrected = f" (corrected for {comparison.family} comparisons)" if comparison.family > 1 else ""
    # is_shown needs a p-value, so there is one here.
    p_value = _p(comparison.p_adjusted or 0.0)
    return f"{comparison.better} is better by {size} points [{low}, {high}], {p_value}{corrected}"


def _not_shown(comparison: Comparison, target: float) -> str:
    start = "no difference could be shown"
    if comparison.family > 1 and comparison.p_value is not None and comparison.p_value < 0.05:
        start += f" after correcting for {comparison.family} comparisons"
    needed = comparison.samples_to_see(target)
    if needed is None:
        return f"{start}: {comparison.n} shared sample is too few" if comparison.n == 1 else start
    more = needed - comparison.n
    if more > 0:
        verb = "samples would be needed" if more > 1 else "sample would be needed"
        return f"{start}; {_rounded_up(more):,} more {verb} to see {_points(target)}"
    return f"{start}; {_points(comparison.detectable or 0.0)} or more would have been seen 80 % of the time"


def _points(difference: float) -> str:
    text = f"{100 * difference:.{_digits(difference)}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return f"{text} point{'' if text == '1' else 's'}"


def _digits(smallest: float) -> int:
    """One digit after the point, or more where a number would otherwise be shown as 0."""
    points = 100 * smallest
    return 1 if points >= 0.05 or points == 0 else min(6, -math.floor(math.log10(points)))


def _p(p_value: float) -> str:
    return "p < 0.001" if p_value < 0.0005 else f"p = {p_value:.3f}"


def _rounded_up(count: int) -> int:
    """Two significant digits: more would pretend to know."""
    step = int(10 ** max(0, len(str(count)) - 2))
    return -(-count // step) * step
