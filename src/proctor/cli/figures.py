"""Numbers as people read them on a terminal: those of every report, and what only a run shows."""

from __future__ import annotations

from proctor.domain.documents.run import StopInterval, StopOutcome
from proctor.metrics.rounding import decimal_text, difference_text
from proctor.reports.figures import (
    NOT_MEASURED,
    cost_notes,
    cost_text,
    count_text,
    coverage_notes,
    estimate_text,
    plural,
    seconds_text,
    share_text,
    unanswered_notes,
)

__all__ = [
    "cost_notes",
    "cost_text",
    "count_text",
    "coverage_notes",
    "estimate_text",
    "plural",
    "seconds_text",
    "share_text",
    "unanswered_notes",
    "until_text",
]


def until_text(outcome: StopOutcome) -> str:
    """What a stop rule came to: `a against b: -0.210 [-0.302, -0.118] n=312`; only a difference has a sign."""
    shown = difference_text if len(outcome.models) > 1 else decimal_text

    def figures(found: StopOutcome | StopInterval) -> str:
        value = NOT_MEASURED if found.value is None else shown(found.value)
        return f"{value} [{', '.join(shown(end) for end in found.interval)}]"

    names = " against ".join(reversed(outcome.models))
    state = "reached" if outcome.met else "not reached"
    start = f"Stop rule {outcome.rule}, {names}: {figures(outcome)} n={outcome.n:,}, {state}."
    text = f"{start} The interval is anytime-valid: it allows for looking after every sample."
    if (worst := outcome.if_unreadable_wrong) is None:
        return text
    counted = f"{plural(outcome.unreadable or 0, 'unreadable mark')} counted as wrong"
    return f"{text} With {counted} it is {figures(worst)}; the rule must be met both ways."
