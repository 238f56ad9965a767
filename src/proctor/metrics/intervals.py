"""Intervals for means and shares; all at 95 % unless a level is given."""

from __future__ import annotations

import math
import random
from bisect import bisect_left
from collections.abc import Iterable, Sequence

from proctor.domain.estimate import Estimate, SampleScore
from proctor.metrics.distributions import normal_cdf, normal_quantile, t_quantile

LEVEL = 0.95
RESAMPLES = 2_000
MOST_UNITS = 1_000
"""Resampling more units than this is batched: see `bootstrap_interval`."""

_NO_SPREAD = 1e-12


def wilson_interval(successes: float, n: float, level: float = LEVEL) -> tuple[float, float]:
    """Wilson's score interval for a share; for values between 0 and 1 that are not binary it is a safe bound."""
    if n <= 0:
        raise ValueError("an interval needs at least one observation")
    z = normal_quantile((1 + level) / 2)
    share, square = successes / n, z * z
    centre = (share + square / (2 * n)) / (1 + square / n)
    half = z / (1 + square / n) * math.sqrt(share * (1 - share) / n + square / (4 * n * n))
    # The share itself always lies inside; at 0 and 1 rounding would leave a hair.
    return max(0.0, min(share, centre - half)), min(1.0, max(share, centre + half))


def t_interval(mean: float, stderr: float, df: float, level: float = LEVEL) -> tuple[float, float]:
    """Student's interval around a mean."""
    half = t_quantile((1 + level) / 2, df) * stderr
    return mean - half, mean + half


def estimate_rate(count: int, n: int) -> Estimate:
    """A share with Wilson's interval; nothing at all when there was nothing to count."""
    if not 0 <= count <= n:
        raise ValueError(f"{count} of {n} is not a share")
    if n == 0:
        return Estimate(None, 0)
    share = count / n
    low, high = wilson_interval(count, n)
    # Where every observation is alike the usual formula says 0, which would claim certainty.
    stderr = math.sqrt(share * (1 - share) / n) if 0 < count < n else None
    return Estimate(share, n, stderr, low, high, "wilson")


class Cluster:
    """How much one group of samples adds up to."""

    __slots__ = ("n", "total")

    def __init__(self) -> None:
        self.n = 0
        self.total = 0.0


class MeanAccumulator:
    """Takes one sample at a time and can say the mean with its interval; memory grows with the groups only."""

    __slots__ = ("_alone_m2", "_alone_mean", "_alone_n", "_clusters", "_is_binary")

    def __init__(self) -> None:
        self._is_binary = True
        self._alone_n, self._alone_mean, self._alone_m2 = 0, 0.0, 0.0
        self._clusters: dict[str, Cluster] = {}

    def add(self, score: SampleScore) -> None:
        value = score.value
        if not 0.0 <= value <= 1.0:
            raise ValueError(f"sample {score.sample_id!r}: a score lies between 0 and 1, not {value}")
        if score.weight == 1:
            self.add_value(value, score.group)
        else:
            self._add_weighed(value, score.weight, score.group or f"\0{score.sample_id}")

    def _add_weighed(self, value: float, weight: int, group: str) -> None:
        """A share of several things is a group of them: what is estimated is the share over all things."""
        self._is_binary = False
        cluster = self._clusters.setdefault(group, Cluster())
        cluster.n += weight
        cluster.total += value * weight

    def add_value(self, value: float, group: str | None = None) -> None:
        """Add a value that is known to lie between 0 and 1."""
        if self._is_binary and value not in (0.0, 1.0):
            self._is_binary = False
        if group is None:
            self._alone_n += 1
            step = value - self._alone_mean
            self._alone_mean += step / self._alone_n
            self._alone_m2 += step * (value - self._alone_mean)
            return
        cluster = self._clusters.get(group)
        if cluster is None:
            cluster = self._clusters[group] = Cluster()
        cluster.n += 1
        cluster.total += value

    def estimate(self) -> Estimate:
        clusters = self._clusters.values()
        n = self._alone_n + sum(cluster.n for cluster in clusters)
        if n == 0:
            return Estimate(None, 0)
        alone_total = self._alone_mean * self._alone_n
        total = math.fsum([alone_total, *(cluster.total for cluster in clusters)])
        if self._is_binary and all(cluster.n == 1 for cluster in clusters):
            return estimate_rate(round(total), n)
        mean = min(1.0, max(0.0, total / n))
        units = self._alone_n + len(clusters)
        is_clustered = units < n
        squares = self._alone_m2 + self._alone_n * (self._alone_mean - mean) ** 2
        squares += math.fsum((cluster.total - cluster.n * mean) ** 2 for cluster in clusters)
        stderr = math.sqrt(squares * units / (units - 1)) / n if units > 1 else 0.0
        # How many units of one size would say as much (Kish); with a few large groups far fewer than there are.
        effective = n * n / (self._alone_n + sum(cluster.n**2 for cluster in clusters))
        if stderr < _NO_SPREAD:
            low, high = wilson_interval(mean * effective, effective)
            return Estimate(mean, n, None, low, high, "wilson-bound")
        low, high = t_interval(mean, stderr, max(1.0, effective - 1))
        return Estimate(mean, n, stderr, max(0.0, low), min(1.0, high), "clustered-t" if is_clustered else "t")


def estimate_mean(values: Iterable[SampleScore]) -> Estimate:
    """The mean of sample scores: Wilson for 0/1 values, clustered t where samples share a group, t otherwise.

    Where the values show no spread at all, the interval is the widest that scores in [0, 1] allow ("wilson-bound").
    """
    accumulator = MeanAccumulator()
    for score in values:
        accumulator.add(score)
    return accumulator.estimate()


def clustered_stderr(values: Sequence[float], groups: Sequence[str], *, corrected: bool = True) -> float:
    """The standard error of a mean whose errors are shared within groups: CR1, or CR0 when not corrected."""
    if len(values) != len(groups):
        raise ValueError("each value needs a group")
    n = len(values)
    mean = math.fsum(values) / n
    sums: dict[str, float] = {}
    for value, group in zip(values, groups, strict=True):
        sums[group] = sums.get(group, 0.0) + value - mean
    units = len(sums)
    if corrected and units < 2:
        raise ValueError("a clustered error needs at least two groups")
    return math.sqrt(math.fsum(s * s for s in sums.values()) * (units / (units - 1) if corrected else 1)) / n


def bootstrap_interval(
    units: Sequence[tuple[float, int]], *, level: float = LEVEL, resamples: int = RESAMPLES, seed: int = 0
) -> tuple[float, float, float]:
    """(standard error, low, high) of the mean of units given as (sum, count), by the seeded BCa bootstrap.

    More than `MOST_UNITS` units are first dealt at random into that many batches: the mean and its error stay the same
    and the work stays bounded.
    """
    if len(units) < 2:
        raise ValueError("a bootstrap needs at least two units")
    rng = random.Random(seed)
    ordered = sorted(units)
    if len(ordered) > MOST_UNITS:
        rng.shuffle(ordered)
        batches = [ordered[start::MOST_UNITS] for start in range(MOST_UNITS)]
        ordered = [(math.fsum(s for s, _ in batch), sum(c for _, c in batch)) for batch in batches]
    mean = math.fsum(s for s, _ in ordered) / sum(c for _, c in ordered)
    means = sorted(_resampled_means(ordered, resamples, rng))
    middle = math.fsum(means) / resamples
    stderr = math.sqrt(math.fsum((m - middle) ** 2 for m in means) / (resamples - 1))
    below = (bisect_left(means, mean) + bisect_left(means, math.nextafter(mean, math.inf))) / 2
    bias = normal_quantile(min(max(below / resamples, 1 / (resamples + 1)), resamples / (resamples + 1)))
    residuals = [s - c * mean for s, c in ordered]
    squares = math.fsum(r * r for r in residuals)
    skew = math.fsum(r**3 for r in residuals) / (6 * squares**1.5) if squares > 0 else 0.0

    def quantile(p: float) -> float:
        shifted = bias + normal_quantile(p)
        place = normal_cdf(bias + shifted / (1 - skew * shifted)) * (resamples - 1)
        left = min(int(place), resamples - 2)
        return means[left] + (means[left + 1] - means[left]) * (place - left)

    return stderr, quantile((1 - level) / 2), quantile((1 + level) / 2)


def _resampled_means(units: Sequence[tuple[float, int]], resamples: int, rng: random.Random) -> Iterable[float]:
    size = len(units)
    if len({count for _, count in units}) == 1:
        totals = [total / units[0][1] for total, _ in units]
        return (math.fsum(rng.choices(totals, k=size)) / size for _ in range(resamples))
    draws = (rng.choices(units, k=size) for _ in range(resamples))
    return (math.fsum(s for s, _ in draw) / sum(c for _, c in draw) for draw in draws)
