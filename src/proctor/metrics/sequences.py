"""Intervals that stay true however often one looks, and the rules that stop a run early because of them.

A confidence sequence covers the mean at all times at once with the stated chance, so a run may be watched and stopped
at any moment. The price is an interval about 1.5 times as wide as a fixed one at the same n. What it needs:
values must come in an order that has nothing to do with them. Feed it the planned (shuffled) order, not the order in
which answers happen to finish, and one value per group where samples share a group.

How: bet against every candidate mean. Under the true mean no way of betting makes money, so a candidate against which
a fixed mixture of bets has made 2/alpha times its stake is excluded for good (Ville's inequality). Candidates below the
mean lose to bets on high values, those above it to bets on low ones (Waudby-Smith and Ramdas, 2024).
"""

from __future__ import annotations

import math
from operator import mul

STAKES = tuple(0.9 / 1.8**k for k in range(9))
"""The shares of the capital that are bet, side by side: from bold, for the first samples, to careful, for many."""
STEPS = 16
"""Values are counted at 0, 1/16, …, 1; one that lies between two of them counts in part for each."""
_START = 1e-6


class _Wealth:
    """The capital won by betting on high values, from counts alone.

    The logarithm of what a bet returns is concave in the value, so sharing a value between its two neighbours can only
    make the capital smaller: the bound stays valid, and memory and time do not grow.
    """

    __slots__ = ("_counts",)

    def __init__(self) -> None:
        self._counts = [0.0] * (STEPS + 1)

    def add(self, value: float) -> None:
        place = value * STEPS
        left = min(int(place), STEPS - 1)
        self._counts[left] += 1 - (place - left)
        self._counts[left + 1] += place - left

    def log_and_slope(self, mean: float) -> tuple[float, float]:
        """The logarithm of the capital won from candidate `mean`, convex and falling in it, and its slope."""
        counts = [(place / STEPS / mean, count) for place, count in enumerate(self._counts) if count]
        logs, slopes = [], []
        for stake in STAKES:
            log = slope = 0.0
            for ratio, count in counts:
                factor = 1 - stake + stake * ratio
                log += count * math.log(factor)
                slope -= count * stake * ratio / factor
            logs.append(log)
            slopes.append(slope / mean)
        top = max(logs)
        weights = [math.exp(log - top) for log in logs]
        total = sum(weights)
        return top + math.log(total / len(logs)), sum(map(mul, weights, slopes)) / total


class _LowerBound:
    """The largest candidate that has been excluded from below, for values in [0, 1]."""

    __slots__ = ("_excluded", "_threshold", "_wealth")

    def __init__(self, threshold: float) -> None:
        self._wealth, self._threshold = _Wealth(), threshold
        self._excluded = _START

    def add(self, value: float) -> None:
        self._wealth.add(value)

    def log_won(self, candidate: float) -> float:
        return self._wealth.log_and_slope(candidate)[0]

    def current(self) -> float:
        # Newton's steps on a convex falling function come from the left, so each one is itself a valid bound.
        for _ in range(60):
            log, slope = self._wealth.log_and_slope(self._excluded)
            if log <= self._threshold + 1e-3 or slope >= 0:
                break
            self._excluded = min(1.0 - _START, self._excluded + (log - self._threshold) / -slope)
        return 0.0 if self._excluded == _START else self._excluded


class ConfidenceSequence:
    """An interval for the mean of values in [low, high] that may be looked at after every update."""

    def __init__(self, *, low: float = 0.0, high: float = 1.0, alpha: float = 0.05) -> None:
        if not low < high:
            raise ValueError(f"a range needs low < high, not {low} and {high}")
        if not 0 < alpha < 1:
            raise ValueError(f"alpha lies between 0 and 1, not {alpha}")
        self._low, self._high = low, high
        threshold = math.log(2 / alpha)
        self._from_below = _LowerBound(threshold)
        self._from_above = _LowerBound(threshold)
        self._n, self._looked = 0, 0
        self._sum = 0.0
        self._interval = (low, high)

    @classmethod
    def of_differences(cls, *, alpha: float = 0.05) -> ConfidenceSequence:
        """For paired differences of scores, B minus A."""
        return cls(low=-1.0, high=1.0, alpha=alpha)

    @property
    def n(self) -> int:
        return self._n

    @property
    def mean(self) -> float | None:
        return self._sum / self._n if self._n else None

    def update(self, value: float) -> None:
        if not self._low <= value <= self._high:
            raise ValueError(f"a value lies between {self._low:g} and {self._high:g}, not {value}")
        scaled = (value - self._low) / (self._high - self._low)
        self._from_below.add(scaled)
        self._from_above.add(1 - scaled)
        self._n += 1
        self._sum += value

    def p_value(self, mean: float) -> float:
        """How likely so much, or more, would ever have been won by betting against `mean`, were it the true one.

        Holds at whatever moment it is asked for, and is below alpha where the interval at this moment excludes `mean`.
        """
        scaled = (mean - self._low) / (self._high - self._low)
        if not 0 < scaled < 1:
            raise ValueError(f"a candidate lies between {self._low:g} and {self._high:g}, not {mean}")
        if not self._n:
            return 1.0
        won = max(self._from_below.log_won(scaled), self._from_above.log_won(1 - scaled))
        return min(1.0, 2 * math.exp(-won))

    def interval(self) -> tuple[float, float]:
        """The narrowest interval known so far; with many samples it is worked out anew for every 64th part of them."""
        if self._n - self._looked > self._n // 64:
            self._looked = self._n
            width = self._high - self._low
            below, above = self._from_below.current(), self._from_above.current()
            self._interval = (self._low + width * below, self._high - width * above)
        return self._interval
