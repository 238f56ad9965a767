"""What a reader must know before believing a score: trials that are in no score, and marks that could be forged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec import UNSET

from proctor.domain.documents.estimate import MetricEstimate
from proctor.domain.documents.evaluation import EvaluationFigures, EvaluationSummary
from proctor.metrics.rounding import percent_text
from proctor.reports.figures import number_text, plural

SMALL_SHARE = 0.01
"""Up to this share more trials without a mark than another model has, nothing is said."""
FORGEABLE = "these scores rest on evidence that the answer itself could have forged"


def unmeasured_share(evaluation: EvaluationFigures, estimate: MetricEstimate | None) -> float:
    """Of the trials that were asked, how many have no mark."""
    count = 0 if estimate is None else estimate.unmeasured or 0
    return count / evaluation.done if evaluation.done else 0.0


def unmeasured_text(evaluation: EvaluationFigures, estimate: MetricEstimate) -> str:
    """`20 of 40 trials (50.0 %) have no score …; with all of them counted as wrong, it would be 0.500, not 1.000`."""
    count, share = estimate.unmeasured or 0, percent_text(unmeasured_share(evaluation, estimate))
    text = f"{count:,} of {evaluation.done:,} trials ({share}) have no score and are left out"
    worst, value = estimate.if_unmeasured_wrong, estimate.value
    if worst is None or worst is UNSET or value is None:
        return text
    return f"{text}; with all of them counted as wrong, it would be {number_text(worst)}, not {number_text(value)}"


def counted_wrong(evaluation: EvaluationFigures, estimate: MetricEstimate) -> Iterator[tuple[float, str]]:
    """What the value would be with trials that have no mark counted as wrong, and with which: a gate must hold so, too.

    Marks that could not be read (a judge's verdict, log-probabilities) count from the first on, because an answer might
    bring them about.
    """
    unreadable, unmeasured = estimate.if_unreadable_wrong, estimate.if_unmeasured_wrong
    if isinstance(unreadable, float):
        yield unreadable, f"its {plural(estimate.unreadable or 0, 'unreadable mark')}"
    if isinstance(unmeasured, float) and unmeasured_share(evaluation, estimate) > SMALL_SHARE:
        yield unmeasured, f"its {estimate.unmeasured:,} of {evaluation.done:,} trials without a score"


def uneven_notes(sides: Mapping[str, tuple[EvaluationFigures, MetricEstimate | None]]) -> dict[str, str]:
    """For each name with a larger share of trials without a mark than the least of the others: what that may hide."""
    shares = {name: unmeasured_share(*side) for name, side in sides.items()}
    least = min(shares.values(), default=0.0)
    return {
        name: f"{name}: {unmeasured_text(evaluation, estimate)}."
        for name, (evaluation, estimate) in sides.items()
        if estimate is not None and shares[name] - least > SMALL_SHARE
    }


def trust_notes(evaluations: Iterable[EvaluationSummary]) -> list[str]:
    """What the evaluations of one run must be told with, a sentence each."""
    notes = []
    for item in evaluations:
        label, first = next(iter(item.metrics.items()), ("", None))
        if first is not None and unmeasured_share(item, first) > SMALL_SHARE:
            notes.append(f"{item.title}, {first.title or label}: {unmeasured_text(item, first)}.")
        if item.is_forgeable:
            notes.append(f"{item.title}: {FORGEABLE}.")
    return notes
