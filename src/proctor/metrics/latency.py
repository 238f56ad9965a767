"""How long answers took: exact percentiles and throughput."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable
from heapq import merge

PERCENTILES = (50, 90, 95, 99)
SORTED_AT_ONCE = 8192


class Latencies:
    """Collects seconds, eight bytes each; percentiles are exact and interpolate linearly between neighbours."""

    __slots__ = ("_is_sorted", "_seconds")

    def __init__(self, seconds: Iterable[float] = ()) -> None:
        self._seconds = array("d")
        self._is_sorted = True
        for one in seconds:
            self.add(one)

    def __len__(self) -> int:
        return len(self._seconds)

    def add(self, seconds: float) -> None:
        if not 0.0 <= seconds < math.inf:
            raise ValueError(f"a latency is a number of seconds from 0 on, not {seconds}")
        self._seconds.append(seconds)
        self._is_sorted = False

    def percentile(self, percent: float) -> float | None:
        """The value that `percent` per cent of the answers did not exceed; None when nothing was measured."""
        if not 0 <= percent <= 100:
            raise ValueError(f"a percentile lies between 0 and 100, not {percent}")
        if not self._seconds:
            return None
        if not self._is_sorted:
            self._seconds = _in_order(self._seconds)
            self._is_sorted = True
        place = (len(self._seconds) - 1) * percent / 100
        left = math.floor(place)
        right = min(left + 1, len(self._seconds) - 1)
        return self._seconds[left] + (self._seconds[right] - self._seconds[left]) * (place - left)

    @property
    def mean(self) -> float | None:
        return math.fsum(self._seconds) / len(self._seconds) if self._seconds else None

    def summary(self, percentiles: Iterable[float] = PERCENTILES) -> dict[str, float]:
        """`{"p50": …, "p95": …}`; empty when nothing was measured."""
        if not self._seconds:
            return {}
        found = ((percent, self.percentile(percent)) for percent in percentiles)
        return {f"p{percent:g}": value for percent, value in found if value is not None}


def _in_order(seconds: array[float]) -> array[float]:
    """Sorted a block at a time and merged: a list of all of them would take four times the room of the numbers."""
    starts = range(0, len(seconds), SORTED_AT_ONCE)
    blocks = [array("d", sorted(seconds[start : start + SORTED_AT_ONCE])) for start in starts]
    return blocks[0] if len(blocks) == 1 else array("d", merge(*blocks))


def throughput(count: int, seconds: float) -> float | None:
    """Per second; None when no time passed."""
    return count / seconds if seconds > 0 else None
