"""What the numbers of a benchmark are called; apart from `summary`, because a run needs the names before any query."""

from __future__ import annotations

from collections.abc import Sequence


def metrics_of(scorer: str, metrics: Sequence[str]) -> list[str]:
    """What is measured of one scorer: metrics written `scorer.metric` are its own, and then it has no others."""
    own = [name.removeprefix(f"{scorer}.") for name in metrics if name.startswith(f"{scorer}.")]
    return own or [name for name in metrics if "." not in name]


def metric_labels(scorers: Sequence[str], metrics: Sequence[str]) -> list[str]:
    """Scorer by scorer, metric by metric: the first scorer's go by their own names, others by `scorer.metric`."""
    return [
        name if index == 0 else f"{scorer}.{name}"
        for index, scorer in enumerate(scorers)
        for name in metrics_of(scorer, metrics)
    ]
