"""The names of what a run measures, known before anything is asked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from proctor.domain.evaluation import Evaluation
from proctor.domain.plan import Plan
from proctor.metrics.labels import all_labels
from proctor.planning.matrix import expand_matrix
from proctor.runs.resolve import PlanContext, load_benchmarks
from proctor.scorers.registry import create_scorers


def metrics_of_plan(plan: Plan, context: PlanContext) -> list[str]:
    """Everything this plan will measure; no data is read for it."""
    return _distinct(
        all_labels(create_scorers(benchmark.scorers, context.folder), benchmark.metrics, spec.epochs or plan.epochs)
        for spec, benchmark in load_benchmarks(expand_matrix(plan, context.folder), context)
    )


def metrics_of_each(evaluations: Sequence[Evaluation]) -> list[list[str]]:
    """What each evaluation measures."""
    return [all_labels(item.scorers, item.benchmark.metrics, item.epochs) for item in evaluations]


def metrics_of_all(evaluations: Sequence[Evaluation]) -> list[str]:
    """Everything these evaluations measure."""
    return _distinct(metrics_of_each(evaluations))


def _distinct(lists: Iterable[Sequence[str]]) -> list[str]:
    return list(dict.fromkeys(label for labels in lists for label in labels))
