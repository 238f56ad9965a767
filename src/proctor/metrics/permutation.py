"""The paired permutation test: if two systems were alike, each difference could as well have had the other sign."""

from __future__ import annotations

import math
import random
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, islice
from operator import getitem

from msgspec import Struct

MAX_EXACT = 28
"""Up to this many differences every combination of signs is counted."""
MAX_SINGLE = 4_096
"""Above this many differences, near sizes are put together into about `LEVELS` levels."""
LEVELS = 40
MAX_BINS = 4_096
FINEST = 1e-9
"""Sizes nearer to one another than this are one size."""
DRAWS = 9_999


class PermutationTest(Struct, frozen=True):
    p_value: float
    error: float
    """The Monte-Carlo standard error of the p-value; 0 when every combination was counted."""
    method: str


def sign_flip_test(differences: Iterable[float], *, seed: int = 0, draws: int = DRAWS) -> PermutationTest:
    """Two-sided, on the sum of the differences: exact for few of them, seeded Monte Carlo otherwise.

    Putting near sizes together changes the statistic a little but not the test's validity: flipping the signs of
    rounded differences is just as fair.
    """
    given = (d for d in differences if abs(d) > 1e-12)
    signed = sorted(islice(given, MAX_SINGLE + 1), key=abs)
    sizes = [abs(d) for d in signed]
    if len(sizes) <= MAX_EXACT:
        return PermutationTest(_count_all(sizes, abs(math.fsum(signed))), 0.0, "exact permutation")
    rng = random.Random(seed)
    if len(sizes) <= MAX_SINGLE:
        observed, draw = abs(math.fsum(signed)), _draw_single(sizes, rng)
    else:
        levels = _levels(_binned(chain(signed, given)))
        observed, draw = abs(math.fsum(size * net for size, _, net in levels)), _draw_levels(levels, rng)
    threshold = observed - 1e-9 * max(1.0, observed)
    hits = sum(abs(draw()) >= threshold for _ in range(draws))
    p = (hits + 1) / (draws + 1)
    return PermutationTest(p, math.sqrt(p * (1 - p) / draws), "Monte-Carlo permutation")


def _all_sums(sizes: Sequence[float]) -> list[float]:
    sums = [0.0]
    for size in sizes:
        sums = [s + size for s in sums] + [s - size for s in sums]
    return sums


def _count_all(sizes: Sequence[float], observed: float) -> float:
    """The share of all sign combinations whose sum is as far from 0 as the observed one; meets in the middle."""
    threshold = observed - 1e-9 * max(1.0, observed)
    left, right = _all_sums(sizes[::2]), sorted(_all_sums(sizes[1::2]))
    if threshold <= 0:
        return 1.0
    hits = sum(bisect_right(right, -threshold - s) + len(right) - bisect_left(right, threshold - s) for s in left)
    return hits / (len(left) * len(right))


def _draw_single(sizes: Sequence[float], rng: random.Random) -> Callable[[], float]:
    """A random byte picks the signs of eight differences at once."""
    blocks = [sizes[start : start + 8] for start in range(0, len(sizes), 8)]
    tables = [_all_sums([*block, *[0.0] * (8 - len(block))]) for block in blocks]
    return lambda: sum(map(getitem, tables, rng.randbytes(len(tables))))


class _Bin(Struct):
    """Differences of about one size: the sum of their sizes, how many, positive minus negative ones."""

    total: float = 0.0
    many: int = 0
    net: int = 0

    def add(self, other: _Bin) -> None:
        self.total += other.total
        self.many += other.many
        self.net += other.net


def _binned(differences: Iterable[float]) -> list[_Bin]:
    """Differences put together by size, smallest first, in bounded memory: bins grow wider where there are too many.

    The bins depend on the sizes alone, never on the signs or the order; that keeps the test valid.
    """
    bins: dict[int, _Bin] = {}
    width = 1
    for difference in differences:
        size = abs(difference)
        key = round(size / FINEST) // width
        found = bins.get(key)
        if found is None:
            found = bins[key] = _Bin()
            while len(bins) > MAX_BINS:
                width *= 16
                bins = _widened(bins, 16)
                found = bins[round(size / FINEST) // width]
        found.total += size
        found.many += 1
        found.net += 1 if difference > 0 else -1
    return [bins[key] for key in sorted(bins)]


def _widened(bins: dict[int, _Bin], times: int) -> dict[int, _Bin]:
    wider: dict[int, _Bin] = {}
    for key, one in bins.items():
        wider.setdefault(key // times, _Bin()).add(one)
    return wider


def _levels(bins: Sequence[_Bin]) -> list[tuple[float, int, int]]:
    """(mean size, how many, positive minus negative ones): a level a bin, and about `LEVELS` where there are more."""
    room = sum(one.many for one in bins) / LEVELS if len(bins) > LEVELS else 0
    levels, current = [], _Bin()
    for one in bins:
        if current.many > room:
            levels.append((current.total / current.many, current.many, current.net))
            current = _Bin()
        current.add(one)
    return [*levels, (current.total / current.many, current.many, current.net)]


def _draw_levels(levels: Sequence[tuple[float, int, int]], rng: random.Random) -> Callable[[], float]:
    """The differences of one level share one binomial draw: the number of set bits of a random integer."""
    # Twice the bits minus their number, with the second part added up beforehand.
    offset = math.fsum(size * count for size, count, _ in levels)
    draws = [(2 * size, count) for size, count, _ in levels]
    bits = rng.getrandbits
    return lambda: sum([size * bits(count).bit_count() for size, count in draws]) - offset
