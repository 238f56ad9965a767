"""What the numbers of a benchmark are called; apart from `summary`, because a run needs the names before any query."""

from __future__ import annotations

from collections.abc import Sequence

from proctor.metrics.registry import metric_name


def metrics_of(scorer: str, metrics: Sequence[str]) -> list[str]:
    """What is measured of one scorer: metrics written `scorer.metric` are its own, and then it has no others."""
    own = [name.removeprefix(f"{scorer}.") for name in metrics if name.startswith(f"{scorer}.")]
    return own or [name for name in metrics if "." not in metric_name(name)]


def metric_labels(scorers: Sequence[str], metrics: Sequence[str]) -> list[str]:
    """Scorer by scorer, metric by metric: the first scorer's go by their own names, others by `scorer.metric`."""
    return [
        label if index == 0 else f"{scorer}.{label}"
        for index, scorer in enumerate(scorers)
        for label in _labels(metrics_of(scorer, metrics))
    ]


def _labels(metrics: Sequence[str]) -> list[str]:
    """Options are part of a label only where the same metric is measured in two ways."""
    names = [metric_name(one) for one in metrics]
    return [name if names.count(name) == 1 else one for name, one in zip(names, metrics, strict=True)]
