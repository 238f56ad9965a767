"""Two systems on the same right-or-wrong samples: only the samples on which they differ can tell them apart."""

from __future__ import annotations

import math
from collections.abc import Callable

from proctor.metrics.distributions import normal_quantile, sign_test
from proctor.metrics.intervals import LEVEL


def mcnemar(gained: int, lost: int) -> float:
    """McNemar's exact two-sided p-value for `gained` and `lost` samples."""
    return sign_test(gained, lost)


def score_interval(gained: float, lost: float, n: float, level: float = LEVEL) -> tuple[float, float]:
    """Tango's score interval for the difference (gained - lost) / n of paired shares."""
    if n <= 0 or gained < 0 or lost < 0 or gained + lost > n * (1 + 1e-12):
        raise ValueError(f"{gained} gained and {lost} lost of {n} is not possible")
    z = normal_quantile((1 + level) / 2)
    difference = (gained - lost) / n

    def distance(delta: float) -> float:
        """How many standard errors the observed difference lies from `delta`."""
        # The chance of a loss that is likeliest, given delta.
        b = -gained - lost + (2 * n - gained + lost) * delta
        chance = (math.sqrt(max(0.0, b * b + 8 * n * lost * delta * (1 - delta))) - b) / (4 * n)
        variance = n * (2 * chance + delta * (1 - delta))
        gap = gained - lost - n * delta
        return gap / math.sqrt(variance) if variance > 0 else math.copysign(math.inf, gap) if gap else 0.0

    low = _crossing(lambda d: distance(d) > z, -1.0, difference)
    high = _crossing(lambda d: distance(d) >= -z, difference, 1.0)
    return low, high


def _crossing(is_before: Callable[[float], bool], low: float, high: float) -> float:
    """Where a claim that holds on the left stops holding."""
    if not is_before(low):
        return low
    if is_before(high):
        return high
    while high - low > 1e-13:
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if is_before(middle) else (low, middle)
    return (low + high) / 2


def odds_ratio(gained: int, lost: int) -> float | None:
    """How many samples were gained for each lost one; None where none was lost."""
    return gained / lost if lost else None


def cohens_h(share_a: float, share_b: float) -> float:
    """The distance of two shares on the scale where equal steps are equally hard to see: 0.2 small, 0.5 medium."""
    return 2 * (math.asin(math.sqrt(share_b)) - math.asin(math.sqrt(share_a)))
