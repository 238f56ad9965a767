"""Intervals by drawing the units again and again."""

from __future__ import annotations

import math
import random
from bisect import bisect_left
from collections.abc import Iterable, Sequence

from proctor.metrics.distributions import normal_cdf, normal_quantile
from proctor.metrics.intervals import LEVEL

RESAMPLES = 2_000
MAX_UNITS = 1_000
"""Resampling more units than this is batched: see `bootstrap_interval`."""


def bootstrap_interval(
    units: Sequence[tuple[float, int]], *, level: float = LEVEL, resamples: int = RESAMPLES, seed: int = 0
) -> tuple[float, float, float]:
    """(standard error, low, high) of the mean of units given as (sum, count), by the seeded BCa bootstrap.

    More than `MAX_UNITS` units are first dealt at random into that many batches: the mean and its error stay the same
    and the work stays bounded.
    """
    if len(units) < 2:
        raise ValueError("a bootstrap needs at least two units")
    rng = random.Random(seed)
    ordered = sorted(units)
    if len(ordered) > MAX_UNITS:
        rng.shuffle(ordered)
        batches = [ordered[start::MAX_UNITS] for start in range(MAX_UNITS)]
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
