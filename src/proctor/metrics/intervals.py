"""Intervals for means and shares; all at 95 % unless a level is given."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Sequence

from msgspec.structs import replace

from proctor.domain.estimate import Estimate, SampleScore
from proctor.metrics.distributions import normal_quantile, t_quantile
from proctor.metrics.moments import Moments
from proctor.metrics.monotone import Groups, lowest_end

LEVEL = 0.95
NEARLY_ALL = 0.9
"""A group with more than this share of the samples is nearly all there is: the rest cannot show how groups differ."""
WITHIN = "within-group-"
"""Begins the method where that is so: the interval holds for this group's samples, not for other groups."""
MONOTONE_FROM_GROUPS = 10
"""From so many groups of one size on, no further error raises an end; fewer would need intervals twice as wide."""
MONOTONE_UP_TO = 300
"""Samples; with more of them one error raises an end by less than can be seen, and large groups would pay most."""

_NO_SPREAD = 1e-12


def wilson_interval(successes: float, n: float, level: float = LEVEL) -> tuple[float, float]:
    """Wilson's score interval for a share; for values between 0 and 1 that are not binary it is a safe bound."""
    if n <= 0:
        raise ValueError("an interval needs at least one observation")
    return _score_interval(successes / n, normal_quantile((1 + level) / 2) ** 2 / n)


def _score_interval(mean: float, square: float) -> tuple[float, float]:
    """All p with (mean - p)² <= p (1 - p) times `square`, which is a quantile's square by a number of observations."""
    centre = (mean + square / 2) / (1 + square)
    half = math.sqrt(square * (mean * (1 - mean) + square / 4)) / (1 + square)
    # The mean itself always lies inside; at 0 and 1 rounding would leave a hair.
    return max(0.0, min(mean, centre - half)), min(1.0, max(mean, centre + half))


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


def unseen_share(units: float, level: float = LEVEL) -> float:
    """How large a share could be of which so many units have shown nothing, by Wilson's formula."""
    square = normal_quantile((1 + level) / 2) ** 2
    return square / (units + square)


def mean_interval(mean: float, stderr: float, units: float, level: float = LEVEL) -> tuple[float, float]:
    """The interval of a mean of values between 0 and 1 with this error, from as many independent units.

    It is Wilson's for as many 0/1 values as would have this error, with Student's quantile. It is never wider than that
    of one 0/1 value a unit, which vary most, and never promises more than units that are all right (or wrong) would:
    otherwise one more error could raise its lower end.
    """
    unseen = unseen_share(units, level)
    if stderr < _NO_SPREAD:
        return mean * (1 - unseen), mean + (1 - mean) * unseen
    widest = normal_quantile((1 + level) / 2) ** 2 / units
    quantile = t_quantile((1 + level) / 2, max(1.0, units - 1))
    square = min(widest, (quantile * stderr) ** 2 / (mean * (1 - mean)))
    low, high = _score_interval(mean, square)
    return min(low, 1 - unseen), max(high, unseen)


def _monotone_interval(groups: Groups, n: int, units: float) -> tuple[float, float]:
    """`mean_interval` of right-or-wrong samples in groups, widened so that one more error raises neither end."""
    count = sum(groups.values())

    def end(mean: float, squares: float) -> float:
        variance = max(squares * count / (count - 1) / n**2, mean * (1 - mean) / (n - 1))
        return mean_interval(mean, math.sqrt(variance), units)[0]

    def least(mean: float) -> float:
        return wilson_interval(mean * units, units)[0]

    errors = {(size, size - right): many for (size, right), many in groups.items()}
    return lowest_end(groups, end, least), 1 - lowest_end(errors, end, least)


def has_clusters(alone: int, sizes: Collection[int]) -> bool:
    """Whether samples share groups, and no group is nearly all there is: `alone` samples have none."""
    return 1 < max(sizes, default=0) <= NEARLY_ALL * (alone + sum(sizes))


class Cluster:
    """How much one group of samples adds up to."""

    __slots__ = ("n", "total")

    def __init__(self) -> None:
        self.n = 0
        self.total = 0.0


class MeanAccumulator:
    """Takes one sample at a time and can say the mean with its interval; memory grows with the groups only."""

    __slots__ = ("_alone", "_clusters", "_grouped")

    def __init__(self) -> None:
        # By weight: nearly always there is only that of 1.
        self._alone: dict[int, Moments] = {}
        self._grouped: dict[int, Moments] = {}
        self._clusters: dict[str, Cluster] = {}

    def add(self, score: SampleScore) -> None:
        value = score.value
        if not 0.0 <= value <= 1.0:
            raise ValueError(f"sample {score.sample_id!r}: a score lies between 0 and 1, not {value}")
        self.add_value(value, score.group, score.weight)

    def add_value(self, value: float, group: str | None = None, weight: int = 1) -> None:
        """Add a value that is known to lie between 0 and 1: a share of `weight` things, which are a group of their own.

        What is estimated is the share over all things, so a share of none is in no mean.
        """
        if weight == 0:
            return
        of_weight = self._alone if group is None else self._grouped
        moments = of_weight.get(weight)
        if moments is None:
            moments = of_weight[weight] = Moments()
        moments.add(value)
        if group is None:
            return
        cluster = self._clusters.get(group)
        if cluster is None:
            cluster = self._clusters[group] = Cluster()
        cluster.n += weight
        cluster.total += value * weight

    def count(self, zeros: int, ones: int) -> None:
        """Add so many values of 0 and of 1 that belong to no group and weigh one each."""
        if zeros + ones:
            self._alone.setdefault(1, Moments()).count(zeros, ones)

    def estimate(self) -> Estimate:
        alone, clusters, within = [*self._alone.items()], [*self._clusters.values()], ""
        n, effective = _sizes(alone, clusters)
        if n == 0:
            return Estimate(None, 0)
        sizes = [cluster.n for cluster in clusters]
        if max(sizes, default=0) > 1 and not has_clusters(n - sum(sizes), sizes):
            alone, clusters, within = [*alone, *self._grouped.items()], [], WITHIN
            n, effective = _sizes(alone, clusters)
        total = math.fsum([*(w * one.total for w, one in alone), *(cluster.total for cluster in clusters)])
        units = sum(one.n for _, one in alone) + len(clusters)
        is_clustered = units < n
        if not is_clustered and self._is_binary:
            rate = estimate_rate(round(total), n)
            return replace(rate, method=within + rate.method)
        mean = min(1.0, max(0.0, total / n))
        stderr = _error(alone, clusters, mean)
        if clusters:
            # Groups alike by luck, or because their samples balance, must not look surer than independent samples.
            stderr = max(stderr, _error([*alone, *self._grouped.items()], [], mean))
        low, high = mean_interval(mean, stderr, effective)
        if clusters and self._is_monotone(n, effective):
            low, high = _monotone_interval(self._counted_groups(), n, effective)
        if stderr < _NO_SPREAD:
            return Estimate(mean, n, None, low, high, f"{within}no-spread-bound")
        return Estimate(mean, n, stderr, low, high, f"{within}{'clustered-' if is_clustered else ''}wilson-t")

    @property
    def _is_binary(self) -> bool:
        return all(one.is_binary for part in (self._alone, self._grouped) for one in part.values())

    def _is_monotone(self, n: int, units: float) -> bool:
        """By what does not depend on which answers are right, or the promise would end where it is needed."""
        is_unweighted = all(weight == 1 for part in (self._alone, self._grouped) for weight in part)
        return is_unweighted and self._is_binary and units >= MONOTONE_FROM_GROUPS and n <= MONOTONE_UP_TO

    def _counted_groups(self) -> Groups:
        """Of right-or-wrong samples; one without a group is a group of its own."""
        found = Counter((cluster.n, round(cluster.total)) for cluster in self._clusters.values())
        for alone in self._alone.values():
            found.update({(1, 0): alone.zeros, (1, 1): alone.ones})
        return found


def _sizes(alone: Sequence[tuple[int, Moments]], clusters: Sequence[Cluster]) -> tuple[int, float]:
    """How many there are, and how many units of one size would say as much (Kish): far fewer where some are large."""
    n = sum(weight * one.n for weight, one in alone) + sum(cluster.n for cluster in clusters)
    squares = sum(weight**2 * one.n for weight, one in alone) + sum(cluster.n**2 for cluster in clusters)
    return n, n * n / squares if n else 0.0


def _error(alone: Sequence[tuple[int, Moments]], clusters: Sequence[Cluster], mean: float) -> float:
    """The corrected clustered error (CR1) of the mean, which is the usual one for units of one sample."""
    units = sum(one.n for _, one in alone) + len(clusters)
    if units < 2:
        return 0.0
    single = (weight**2 * one.squares(mean) for weight, one in alone)
    squares = math.fsum([*single, *((cluster.total - cluster.n * mean) ** 2 for cluster in clusters)])
    return math.sqrt(squares * units / (units - 1)) / _sizes(alone, clusters)[0]
