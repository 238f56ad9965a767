"""How long answers took: exact percentiles and throughput."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Sequence, Set
from heapq import merge
from itertools import islice

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
        return self._percentiles([percent])[0] if self._seconds else None

    @property
    def mean(self) -> float | None:
        return math.fsum(self._seconds) / len(self._seconds) if self._seconds else None

    def summary(self, percentiles: Iterable[float] = PERCENTILES) -> dict[str, float]:
        """`{"p50": …, "p95": …}`; empty when nothing was measured."""
        if not self._seconds:
            return {}
        wanted = list(percentiles)
        return {f"p{percent:g}": value for percent, value in zip(wanted, self._percentiles(wanted), strict=True)}

    def _percentiles(self, wanted: Sequence[float]) -> list[float]:
        for percent in wanted:
            if not 0 <= percent <= 100:
                raise ValueError(f"a percentile lies between 0 and 100, not {percent}")
        last = len(self._seconds) - 1
        places = [last * percent / 100 for percent in wanted]
        value = self._in_order({near for place in places for near in (math.floor(place), math.ceil(place))})
        lower = [value[math.floor(place)] for place in places]
        upper = [value[math.ceil(place)] for place in places]
        return [
            low + (high - low) * (place - math.floor(place))
            for place, low, high in zip(places, lower, upper, strict=True)
        ]

    def _in_order(self, places: Set[int]) -> dict[int, float]:
        """The values at these places of the whole order.

        Blocks are sorted where they are and merged on the way: a list of all would take four times the room of the
        numbers, and a second array as much again.
        """
        starts = range(0, len(self._seconds), SORTED_AT_ONCE)
        if not self._is_sorted:
            for start in starts:
                block = slice(start, start + SORTED_AT_ONCE)
                self._seconds[block] = array("d", sorted(self._seconds[block]))
            self._is_sorted = True
        with memoryview(self._seconds) as view:
            blocks = [view[start : start + SORTED_AT_ONCE] for start in starts]
            ordered = islice(merge(*blocks), max(places) + 1)
            return {place: value for place, value in enumerate(ordered) if place in places}


def throughput(count: int, seconds: float) -> float | None:
    """Per second; None when no time passed."""
    return count / seconds if seconds > 0 else None
