"""What the metrics are compared with: textbook formulas over plain lists, and exact sums."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from proctor.domain.estimate import Estimate, SampleScore
from proctor.metrics.distributions import binomial_cdf, normal_quantile
from proctor.metrics.intervals import MeanAccumulator
from proctor.metrics.power import ALPHA


def estimate_mean(values: Iterable[SampleScore]) -> Estimate:
    """The mean of sample scores; Wilson's interval for 0/1 values, `mean_interval` for others and for groups."""
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


def binomial_pmf(k: int, n: int, p: float) -> float:
    """P(X = k), by the logarithms of the factorials."""
    ways = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    return math.exp(ways + k * math.log(p) + (n - k) * math.log1p(-p))


def power_of_mcnemar(n: int, difference: float, discordance: float, *, alpha: float = ALPHA) -> float:
    """The exact chance that the exact McNemar test sees this difference in n pairs."""
    gain = (discordance + abs(difference)) / (2 * discordance)
    spread = 9 * math.sqrt(n * discordance * (1 - discordance)) + 9
    total = 0.0
    for flips in range(max(0, int(n * discordance - spread)), min(n, int(n * discordance + spread)) + 1):
        most = _most_losses(flips, alpha)
        if most >= 0:
            seen = binomial_cdf(most, flips, 1 - gain) + binomial_cdf(most, flips, gain)
            total += binomial_pmf(flips, n, discordance) * seen
    return total


def _most_losses(flips: int, alpha: float) -> int:
    """The most losses among so many flips that still are significant; -1 when none is."""
    most = int(flips / 2 - normal_quantile(1 - alpha / 2) * math.sqrt(flips) / 2)
    while most >= 0 and 2 * binomial_cdf(most, flips, 0.5) > alpha:
        most -= 1
    return most
