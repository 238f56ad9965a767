"""What a comparison says, in words."""

from __future__ import annotations

from proctor.metrics.compare import MIN_GROUPS, PairedComparison
from proctor.metrics.rounding import p_text, points_text

TARGET = 0.02
"""The difference people usually want to detect: two points."""


def verdict(comparison: PairedComparison, *, target: float = TARGET) -> str:
    """'B is better by 3.1 points [0.9, 5.3], p = 0.006', or what would be needed to say so."""
    difference = comparison.difference
    if difference.value is None:
        return "nothing to compare: no sample was answered by both"
    if not comparison.is_shown or difference.low is None or difference.high is None:
        return _not_shown(comparison, target)
    bounds = sorted((abs(difference.low), abs(difference.high)))
    figures = (difference.value, *bounds)
    places = max(len(points_text(figure).partition(".")[2]) for figure in figures)
    size, low, high = (points_text(figure, places) for figure in figures)
    corrected = f" (corrected for {comparison.family} comparisons)" if comparison.family > 1 else ""
    # is_shown needs a p-value, so there is one here.
    p_value = p_text(comparison.p_adjusted or 0.0)
    equals = "" if p_value.startswith("<") else "= "
    return f"{comparison.better} is better by {size} points [{low}, {high}], p {equals}{p_value}{corrected}"


def _not_shown(comparison: PairedComparison, target: float) -> str:
    start = "no difference could be shown"
    if comparison.family > 1 and comparison.p_value is not None and comparison.p_value < 0.05:
        start += f" after correcting for {comparison.family} comparisons"
    if comparison.has_too_few_groups:
        return f"{start}: the samples come from {comparison.groups} groups, and a test needs at least {MIN_GROUPS}"
    needed = comparison.samples_to_see(target)
    if needed is None:
        return f"{start}: {comparison.n} shared sample is too few" if comparison.n == 1 else start
    more = needed - comparison.n
    if more > 0:
        verb = "samples would be needed" if more > 1 else "sample would be needed"
        return f"{start}; {_rounded_up(more):,} more {verb}{_in_groups(comparison, more)} to detect {_points(target)}"
    return f"{start}; {_points(comparison.detectable or 0.0)} or more would have been detected with 80 % power"


def _in_groups(comparison: PairedComparison, more: int) -> str:
    """More samples of the same groups would not help: it is groups that are independent of one another."""
    if not comparison.groups:
        return ""
    return f" (in {_rounded_up(-(-more * comparison.groups // comparison.n)):,} more groups)"


def _points(difference: float) -> str:
    text = points_text(difference)
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return f"{text} point{'' if text == '1' else 's'}"


def _rounded_up(count: int) -> int:
    """Two significant digits: more would pretend to know."""
    step = int(10 ** max(0, len(str(count)) - 2))
    return -(-count // step) * step
