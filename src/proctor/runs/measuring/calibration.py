"""Is a judge's high mark a right answer? Its marks held against another scorer's on the same responses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from statistics import fmean

from proctor.domain.documents.estimate import MetricEstimate
from proctor.domain.documents.report import Calibration, CalibrationBin
from proctor.metrics.intervals import MeanAccumulator
from proctor.stores.calibration import MarkPair

BINS = 5


def calibrate(model: str, benchmark: str, judge: str, reference: str, pairs: Iterable[MarkPair]) -> Calibration | None:
    """How often the two agree on right or wrong, and the reference's mean for each height of the judge's mark.

    None when no response has both marks. Right means a mark of at least a half. A sample counts once, however many
    epochs it has; `pairs` has those of a sample one after the other.
    """
    agreed = MeanAccumulator()
    bins = [MeanAccumulator() for _ in range(BINS)]
    for _, epochs in groupby(pairs, key=lambda pair: pair.sample_id):
        _add_sample(list(epochs), agreed, bins)
    total = agreed.estimate()
    if not total.n:
        return None
    found = [one.estimate() for one in bins]
    return Calibration(
        model=model,
        benchmark=benchmark,
        judge=judge,
        reference=reference,
        n=total.n,
        agreement=MetricEstimate.of(total),
        bins=[
            CalibrationBin(place / BINS, (place + 1) / BINS, MetricEstimate.of(estimate))
            for place, estimate in enumerate(found)
            if estimate.n
        ],
    )


def _add_sample(epochs: Sequence[MarkPair], agreed: MeanAccumulator, bins: Sequence[MeanAccumulator]) -> None:
    """Epochs are averaged: all of them for the agreement, those of one height for that height."""
    group = epochs[0].group
    agreed.add_value(fmean((pair.first >= 0.5) == (pair.second >= 0.5) for pair in epochs), group)
    by_height: dict[int, list[float]] = {}
    for pair in epochs:
        by_height.setdefault(min(BINS - 1, int(pair.first * BINS)), []).append(pair.second)
    for place, values in by_height.items():
        bins[place].add_value(fmean(values), group)
