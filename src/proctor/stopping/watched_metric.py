"""What a stop rule watches: the metric that is shown first, of each sample."""

from __future__ import annotations

from collections.abc import Sequence

from proctor.domain.errors import PlanError
from proctor.domain.evaluation import Evaluation
from proctor.metrics.classification import MacroAverage
from proctor.metrics.labels import has_votes, metrics_of
from proctor.metrics.mean import Mean
from proctor.metrics.metric import MeanOverSamples
from proctor.metrics.registry import create_metric


def watched_metric(scorer: str, version: str, metrics: Sequence[str]) -> MeanOverSamples | None:
    """The first of the scorer's metrics that models are compared on; None where that is no mean over samples.

    Where none of them can be compared it is the mean of the marks, as in `compare`.
    """
    for name in metrics_of(scorer, metrics):
        metric = create_metric(name)
        if isinstance(metric, MeanOverSamples):
            return metric
        if isinstance(metric, MacroAverage) and has_votes(scorer, version):
            return None
    return Mean()


def metric_to_watch(evaluation: Evaluation) -> MeanOverSamples:
    """The same for what is about to be run; PlanError where it cannot be watched."""
    benchmark, scorer = evaluation.benchmark, evaluation.scorers[0]
    metric = watched_metric(scorer.name, scorer.version, benchmark.metrics)
    if metric is None:
        first = metrics_of(scorer.name, benchmark.metrics)[0]
        raise PlanError(
            f"'until' cannot watch {first}, which {benchmark.name} shows first: it is no mean over samples. "
            "Write accuracy or another such metric before it in the benchmark, or leave out 'until'."
        )
    return metric
