"""The mean of sample scores."""

from __future__ import annotations

from array import array
from collections.abc import Iterable

from msgspec import Struct

from proctor.domain.errors import PlanError, did_you_mean
from proctor.domain.estimate import Estimate, SampleScore
from proctor.metrics.intervals import RESAMPLES, MeanAccumulator, bootstrap_interval
from proctor.metrics.metric import Accumulator, Metric, accumulate

INTERVALS = ("t", "bootstrap")


class _Bootstrapped:
    """Keeps the values, eight bytes each, until it is asked."""

    def __init__(self, seed: int, resamples: int) -> None:
        self._seed, self._resamples = seed, resamples
        self._mean = MeanAccumulator()
        self._alone = array("d")
        self._groups: dict[str, tuple[float, int]] = {}

    def add(self, score: SampleScore) -> None:
        self._mean.add(score)
        if score.group is None:
            self._alone.append(score.value)
        else:
            total, count = self._groups.get(score.group, (0.0, 0))
            self._groups[score.group] = (total + score.value, count + 1)

    def estimate(self) -> Estimate:
        plain = self._mean.estimate()
        # Binary values have Wilson, and values without spread have nothing to resample.
        if plain.value is None or plain.method not in ("t", "clustered-t"):
            return plain
        units = [*((value, 1) for value in self._alone), *self._groups.values()]
        stderr, low, high = bootstrap_interval(units, seed=self._seed, resamples=self._resamples)
        method = "clustered-bootstrap" if plain.method == "clustered-t" else "bootstrap"
        return Estimate(plain.value, plain.n, stderr, max(0.0, low), min(1.0, high), method)


class Mean(Struct, frozen=True):
    """The mean score, with a t interval or, when asked, a seeded bootstrap."""

    interval: str = "t"
    seed: int = 0
    resamples: int = RESAMPLES
    name: str = "mean"

    def start(self) -> Accumulator:
        return MeanAccumulator() if self.interval == "t" else _Bootstrapped(self.seed, self.resamples)

    def measure(self, scores: Iterable[SampleScore]) -> Estimate:
        return accumulate(self.start(), scores)


def create(*, interval: str = "t", seed: int = 0, resamples: int = RESAMPLES) -> Metric:
    if interval not in INTERVALS:
        known = ", ".join(INTERVALS)
        raise PlanError(f"mean: no interval {interval!r}; it is one of {known}.{did_you_mean(interval, INTERVALS)}")
    if resamples < 200:
        raise PlanError(f"mean: resamples must be at least 200 for a 95 % interval, not {resamples}")
    return Mean(interval, seed, resamples)
