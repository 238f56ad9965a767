"""What a comparison says, in words."""

from __future__ import annotations

from collections.abc import Mapping

from proctor.domain.documents.comparison import VerdictCode, VerdictParts
from proctor.metrics.compare import MIN_GROUPS, PairedComparison
from proctor.metrics.rounding import p_text, points_text

TARGET = 0.02
"""The difference people usually want to detect: two points."""

SENTENCES: Mapping[VerdictCode, str] = {
    "nothing-shared": "nothing to compare: no sample was answered by both",
    "better": "{better} is better by {points} points [{low}, {high}], p {p}{corrected}",
    "not-with-unreadable": "no difference could be shown that also holds with unreadable marks counted as wrong",
    "not-shown": "no difference could be shown{corrected}",
    "one-sample": "no difference could be shown{corrected}: 1 shared sample is too few",
    "few-groups": (
        "no difference could be shown{corrected}: the samples come from {groups} groups, "
        "and a test needs at least {least}"
    ),
    "needs-one": "no difference could be shown{corrected}; {more} more sample would be needed to detect {size}",
    "needs": "no difference could be shown{corrected}; {more} more samples would be needed to detect {size}",
    "needs-one-in-groups": (
        "no difference could be shown{corrected}; {more} more sample would be needed "
        "(in {groups} more groups) to detect {size}"
    ),
    "needs-in-groups": (
        "no difference could be shown{corrected}; {more} more samples would be needed "
        "(in {groups} more groups) to detect {size}"
    ),
    "detectable": "no difference could be shown{corrected}; {size} or more would have been detected with 80 % power",
}
NOT_WITH_UNREADABLE = VerdictParts("not-with-unreadable", {}, None)


def verdict(comparison: PairedComparison, *, target: float = TARGET) -> str:
    """'B is better by 3.1 points [0.9, 5.3], p = 0.006', or what would be needed to say so."""
    return say(verdict_parts(comparison, target=target))


def say(parts: VerdictParts) -> str:
    """The sentence of a verdict, in English."""
    corrected = ""
    if parts.corrected_for is not None:
        form = " (corrected for {} comparisons)" if parts.code == "better" else " after correcting for {} comparisons"
        corrected = form.format(parts.corrected_for)
    points = parts.values.get("points")
    size = f"{points} point{'' if points == '1' else 's'}"
    return SENTENCES[parts.code].format(**parts.values, corrected=corrected, size=size)


def verdict_parts(comparison: PairedComparison, *, target: float = TARGET) -> VerdictParts:
    """Which of the sentences it is, and its figures."""
    difference = comparison.difference
    if difference.value is None:
        return VerdictParts("nothing-shared", {}, None)
    if not comparison.is_shown or difference.low is None or difference.high is None:
        return _not_shown(comparison, target)
    bounds = sorted((abs(difference.low), abs(difference.high)))
    figures = (difference.value, *bounds)
    places = max(len(points_text(figure).partition(".")[2]) for figure in figures)
    size, low, high = (points_text(figure, places) for figure in figures)
    # is_shown needs a p-value, so there is one here.
    p_value = p_text(comparison.p_adjusted or 0.0)
    values = {
        "better": str(comparison.better),
        "points": size,
        "low": low,
        "high": high,
        "p": p_value if p_value.startswith("<") else f"= {p_value}",
    }
    return VerdictParts("better", values, comparison.family if comparison.family > 1 else None)


def _not_shown(comparison: PairedComparison, target: float) -> VerdictParts:
    is_undone = comparison.family > 1 and comparison.p_value is not None and comparison.p_value < 0.05
    code, values = _what_is_missing(comparison, target)
    return VerdictParts(code, values, comparison.family if is_undone else None)


def _what_is_missing(comparison: PairedComparison, target: float) -> tuple[VerdictCode, Mapping[str, str]]:
    if comparison.has_too_few_groups:
        return "few-groups", {"groups": str(comparison.groups), "least": str(MIN_GROUPS)}
    needed = comparison.samples_to_see(target)
    if needed is None:
        return ("one-sample" if comparison.n == 1 else "not-shown"), {}
    more = needed - comparison.n
    if more <= 0:
        return "detectable", {"points": _points(comparison.detectable or 0.0)}
    values = {"more": f"{_rounded_up(more):,}", "points": _points(target)}
    if not comparison.groups:
        return ("needs" if more > 1 else "needs-one"), values
    # More samples of the same groups would not help: it is groups that are independent of one another.
    groups = f"{_rounded_up(-(-more * comparison.groups // comparison.n)):,}"
    return ("needs-in-groups" if more > 1 else "needs-one-in-groups"), {**values, "groups": groups}


def _points(difference: float) -> str:
    text = points_text(difference)
    return text.rstrip("0").rstrip(".") if "." in text else text


def _rounded_up(count: int) -> int:
    """Two significant digits: more would pretend to know."""
    step = int(10 ** max(0, len(str(count)) - 2))
    return -(-count // step) * step
