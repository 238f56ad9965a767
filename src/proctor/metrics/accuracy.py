"""The share of samples answered rightly."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from proctor.domain.errors import PlanError
from proctor.domain.estimate import Estimate, SampleScore
from proctor.metrics.intervals import MeanAccumulator
from proctor.metrics.metric import Accumulator, Metric, accumulate


class _AtLeast:
    """Counts a score as right from a threshold on."""

    def __init__(self, threshold: float) -> None:
        self._threshold = threshold
        self._mean = MeanAccumulator()

    def add(self, score: SampleScore) -> None:
        self._mean.add(replace(score, value=float(score.value >= self._threshold)))

    def estimate(self) -> Estimate:
        return self._mean.estimate()


class Accuracy(Struct, frozen=True):
    """The mean score; with a threshold, the share of samples whose score reaches it."""

    threshold: float | None = None
    name: str = "accuracy"

    def sample_value(self, score: float) -> float:
        return score if self.threshold is None else float(score >= self.threshold)

    def start(self) -> Accumulator:
        return MeanAccumulator() if self.threshold is None else _AtLeast(self.threshold)

    def measure(self, scores: Iterable[SampleScore]) -> Estimate:
        return accumulate(self.start(), scores)


def create(*, threshold: float | None = None) -> Metric:
    if threshold is not None and not 0 < threshold <= 1:
        raise PlanError(f"accuracy: threshold must be above 0 and at most 1, not {threshold}")
    return Accuracy(threshold)
