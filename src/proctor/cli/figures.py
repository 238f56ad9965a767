"""Numbers as people read them on a terminal: those of every report, and what only a run shows."""

from __future__ import annotations

from typing import Any

from proctor.reports.figures import (
    NOT_MEASURED,
    basis_of,
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
    "basis_of",
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


def until_text(outcome: dict[str, Any]) -> str:
    """What a stop rule came to: `a against b: -0.210 [-0.302, -0.118] n=312`; only a difference has a sign."""
    low, high = outcome["interval"]
    form = "+.3f" if len(outcome["models"]) > 1 else ".3f"
    names = " against ".join(reversed(outcome["models"]))
    value = NOT_MEASURED if outcome["value"] is None else f"{outcome['value']:{form}}"
    state = "reached" if outcome["met"] else "not reached"
    figures = f"{value} [{low:{form}}, {high:{form}}] n={outcome['n']:,}"
    return f"until {outcome['rule']}, {names}: {figures}, {state}. This interval holds however often one looks."
