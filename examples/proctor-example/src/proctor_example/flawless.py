"""A metric: the share of samples with a full mark, with Wilson's interval."""

from __future__ import annotations

from collections.abc import Iterable

from proctor.domain.estimate import Estimate, SampleScore
from proctor.metrics.intervals import estimate_rate


class Counter:
    def __init__(self) -> None:
        self._flawless = self._all = 0

    def add(self, score: SampleScore) -> None:
        self._all += 1
        self._flawless += score.value == 1

    def estimate(self) -> Estimate:
        return estimate_rate(self._flawless, self._all)


class Flawless:
    name = "flawless"

    def sample_value(self, score: float) -> float:
        """What the metric is the mean of: with it, two models can be compared sample by sample."""
        return float(score == 1)

    def start(self) -> Counter:
        return Counter()

    def measure(self, scores: Iterable[SampleScore]) -> Estimate:
        counter = self.start()
        for score in scores:
            counter.add(score)
        return counter.estimate()


def create() -> Flawless:
    return Flawless()
