"""The mean of sample scores."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator

from msgspec import Struct

from proctor.domain.errors import PlanError, did_you_mean
from proctor.domain.estimate import Estimate, SampleScore
from proctor.metrics.bootstrap import RESAMPLES, bootstrap_interval
from proctor.metrics.intervals import WITHIN, MeanAccumulator
from proctor.metrics.metric import Accumulator, Metric, accumulate

INTERVALS = ("t", "bootstrap")


class _Bootstrapped:
    """Keeps every score and its weight, sixteen bytes together, until it is asked."""

    def __init__(self, seed: int, resamples: int) -> None:
        self._seed, self._resamples = seed, resamples
        self._mean = MeanAccumulator()
        self._alone, self._grouped = _Weighed(), _Weighed()
        self._groups: dict[str, tuple[float, int]] = {}

    def add(self, score: SampleScore) -> None:
        self._mean.add(score)
        if score.weight == 0:
            return  # a share of no things is in no mean
        if score.group is None:
            self._alone.add(score)
            return
        self._grouped.add(score)
        total, count = self._groups.get(score.group, (0.0, 0))
        self._groups[score.group] = (total + score.value * score.weight, count + score.weight)

    def estimate(self) -> Estimate:
        plain = self._mean.estimate()
        # Binary values have Wilson, and values without spread have nothing to resample.
        if plain.value is None or not plain.method.endswith("wilson-t"):
            return plain
        grouped = self._grouped.units() if plain.method.startswith(WITHIN) else self._groups.values()
        units = [*self._alone.units(), *grouped]
        stderr, low, high = bootstrap_interval(units, seed=self._seed, resamples=self._resamples)
        # Of few units, or of one that outweighs the others, the mean can lie outside of what is mostly drawn.
        low, high = max(0.0, min(low, plain.value)), min(1.0, max(high, plain.value))
        return Estimate(plain.value, plain.n, stderr, low, high, plain.method.replace("wilson-t", "bootstrap"))


class _Weighed:
    """Scores with their weights."""

    def __init__(self) -> None:
        self._values, self._weights = array("d"), array("q")

    def add(self, score: SampleScore) -> None:
        self._values.append(score.value)
        self._weights.append(score.weight)

    def units(self) -> Iterator[tuple[float, int]]:
        """Each as what a bootstrap draws: a sum, and of how many things it is the sum."""
        return ((value * weight, weight) for value, weight in zip(self._values, self._weights, strict=True))


class Mean(Struct, frozen=True):
    """The mean score, with the interval of `MeanAccumulator` or, when asked, a seeded bootstrap."""

    interval: str = "t"
    """`t` for the former, which is Wilson's with Student's quantile; or `bootstrap`."""
    seed: int = 0
    resamples: int = RESAMPLES
    name: str = "mean"

    def sample_value(self, score: float) -> float:
        return score

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
