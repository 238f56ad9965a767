"""What the numbers of a benchmark are called; apart from `summary`, because a run needs the names before any query."""

from __future__ import annotations

from collections.abc import Sequence


def metric_labels(scorers: Sequence[str], metrics: Sequence[str]) -> list[str]:
    """Scorer by scorer, metric by metric: the first scorer's go by their own names, others by `scorer.metric`."""
    return [name if index == 0 else f"{scorer}.{name}" for index, scorer in enumerate(scorers) for name in metrics]
