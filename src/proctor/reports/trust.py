"""What a reader must know before believing a score: trials that are in no score, and marks that could be forged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from proctor.domain.side import side_of
from proctor.metrics.rounding import percent_text
from proctor.reports.figures import done_trials, number_text

Document = Mapping[str, Any]
SMALL_SHARE = 0.01
"""Up to this share more trials without a mark than another model has, nothing is said."""
FORGEABLE = "these scores rest on evidence that the answer itself could have forged"


def unmeasured_share(evaluation: Document, estimate: Document) -> float:
    """Of the trials that were asked, how many have no mark."""
    done = done_trials(evaluation)
    return estimate.get("unmeasured", 0) / done if done else 0.0


def unmeasured_text(evaluation: Document, estimate: Document) -> str:
    """`20 of 40 trials (50.0 %) have no mark …; were all of them wrong, it would be 0.500, not 1.000`."""
    count, share = estimate["unmeasured"], percent_text(unmeasured_share(evaluation, estimate))
    text = f"{count:,} of {done_trials(evaluation):,} trials ({share}) have no score and are left out"
    worst, value = estimate.get("if_unmeasured_wrong"), estimate["value"]
    if worst is None or value is None:
        return text
    return f"{text}; with all of them counted as wrong, it would be {number_text(worst)}, not {number_text(value)}"


def uneven_notes(sides: Mapping[str, tuple[Document, Document]]) -> dict[str, str]:
    """For each name with a larger share of trials without a mark than the least of the others: what that may hide."""
    shares = {name: unmeasured_share(*side) for name, side in sides.items()}
    least = min(shares.values(), default=0.0)
    return {
        name: f"{name}: {unmeasured_text(*sides[name])}."
        for name, share in shares.items()
        if share - least > SMALL_SHARE
    }


def trust_notes(evaluations: Iterable[Document]) -> list[str]:
    """What the evaluations of one run must be told with, a sentence each."""
    notes = []
    for item in evaluations:
        who = f"{side_of(item)} on {item['benchmark']}"
        first = next(iter(item["metrics"].items()), None)
        if first is not None and unmeasured_share(item, first[1]) > SMALL_SHARE:
            notes.append(f"{who}, {first[1].get('title', first[0])}: {unmeasured_text(item, first[1])}.")
        if item.get("is_forgeable"):
            notes.append(f"{who}: {FORGEABLE}.")
    return notes
