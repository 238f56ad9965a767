"""Gates: bars that a run's metrics must reach."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from proctor.domain.documents.estimate import MetricEstimate
from proctor.domain.documents.evaluation import EvaluationFigures
from proctor.domain.documents.run import RunSummary
from proctor.metrics.rounding import SAME, figure_text
from proctor.reports.trust import counted_wrong


class GateResult(Struct, frozen=True):
    """Whether one evaluation passed one gate; `problem` says why not, and is None where it did."""

    evaluation: str
    gate: str
    problem: str | None = None


def check_gates(run: RunSummary, gates: Mapping[str, float], expected: Sequence[Sequence[str]]) -> list[GateResult]:
    """One result for each gate and evaluation; a metric that could not be measured does not pass.

    `expected` are the names of what each evaluation set out to measure.
    """
    results = []
    for evaluation, names in zip(run.evaluations, expected, strict=True):
        for name, bar in gates.items():
            if name not in names:
                continue  # another benchmark's metric
            # Whether answers can be told to be the same may show only once they are there.
            reason = _below(evaluation, evaluation.metrics.get(name), bar)
            problem = None if reason is None else f"{evaluation.title}: {name} {reason}."
            results.append(GateResult(evaluation.title, f"{name} is at least {bar:.12g}", problem=problem))
    return results


def _below(evaluation: EvaluationFigures, estimate: MetricEstimate | None, bar: float) -> str | None:
    """Why a metric does not pass; it passes only where it does so also with what has no score counted as wrong."""
    if estimate is None or estimate.value is None:
        return "could not be measured"
    value = figure_text(estimate.value, limits=(0.0, bar, 1.0))
    if estimate.value < bar - SAME:
        return f"is {value} (n={estimate.n:,}), below {bar:.12g}"
    for worst, what in counted_wrong(evaluation, estimate):
        if worst < bar - SAME:
            counted = figure_text(worst, limits=(0.0, bar, 1.0))
            return f"is {value} (n={estimate.n:,}), but {counted} with {what} counted as wrong, below {bar:.12g}"
    return None
