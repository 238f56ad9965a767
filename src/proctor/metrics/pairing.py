"""Two systems' scores on the same samples, side by side, read once and in the order of their ids."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Iterator
from itertools import chain, repeat

from msgspec import Struct

from proctor.metrics.intervals import Cluster, MeanAccumulator
from proctor.metrics.sequences import ConfidenceSequence

Mark = tuple[str, float | None, str | None]
"""A sample's id, its score (None where it was asked and has none), and its group."""


class LeftOut(Struct):
    """Samples that cannot be paired, by what happened to them."""

    only_a_failed_in_b: int = 0
    only_a_not_asked_in_b: int = 0
    only_b_failed_in_a: int = 0
    only_b_not_asked_in_a: int = 0
    failed_in_both: int = 0

    def add(self, a: Mark | None, b: Mark | None) -> None:
        """Count a sample that does not have a score on both sides."""
        if a is not None and a[1] is not None:
            if b is None:
                self.only_a_not_asked_in_b += 1
            else:
                self.only_a_failed_in_b += 1
        elif b is not None and b[1] is not None:
            if a is None:
                self.only_b_not_asked_in_a += 1
            else:
                self.only_b_failed_in_a += 1
        elif a is not None and b is not None:
            self.failed_in_both += 1


class Units:
    """What is independent of what: single differences, or their sums by group.

    Differences of 0 and 1 are only counted; others take eight bytes each, groups a few words each.
    """

    __slots__ = ("_down", "_groups", "_level", "_others", "_up")

    def __init__(self) -> None:
        self._up = self._down = self._level = 0
        self._others = array("d")
        self._groups: dict[str, Cluster] = {}

    def add(self, difference: float, group: str | None) -> None:
        if group is not None:
            cluster = self._groups.get(group)
            if cluster is None:
                cluster = self._groups[group] = Cluster()
            cluster.n += 1
            cluster.total += difference
        elif difference == 0.0:
            self._level += 1
        elif difference == 1.0:
            self._up += 1
        elif difference == -1.0:
            self._down += 1
        else:
            self._others.append(difference)

    @property
    def is_clustered(self) -> bool:
        return any(cluster.n > 1 for cluster in self._groups.values())

    @property
    def n(self) -> int:
        """How many pairs there are in all units."""
        return self._alone + sum(cluster.n for cluster in self._groups.values())

    @property
    def _alone(self) -> int:
        return self._up + self._down + self._level + len(self._others)

    def sums(self) -> Iterator[float]:
        """The sum of the differences of each unit, those of 0 left out."""
        totals = (cluster.total for cluster in self._groups.values() if cluster.total)
        return chain(repeat(1.0, self._up), repeat(-1.0, self._down), self._others, totals)

    @property
    def mean(self) -> float:
        return math.fsum(self.sums()) / self.n

    @property
    def effective(self) -> float:
        """How many equal units would say as much as these (Kish)."""
        return self.n**2 / (self._alone + sum(cluster.n**2 for cluster in self._groups.values()))

    def stderr(self, mean: float) -> float | None:
        """The corrected clustered error (CR1) of the mean, which is the usual one for units of one pair."""
        count = self._alone + len(self._groups)
        if count < 2:
            return None
        counted = (self._up * (1 - mean) ** 2, self._down * (1 + mean) ** 2, self._level * mean**2)
        others = ((difference - mean) ** 2 for difference in self._others)
        groups = ((cluster.total - cluster.n * mean) ** 2 for cluster in self._groups.values())
        squares = math.fsum(chain(counted, others, groups))
        error = math.sqrt(squares * count / (count - 1)) / self.n
        return error if error > 1e-12 else None


class Pairs:
    """The samples both systems have a score for, as far as their statistics need them; ids of flips up to a number."""

    __slots__ = ("_keep", "_m2", "_mean", "a", "b", "gained", "gained_ids", "is_binary", "left_out", "lost",
                 "lost_ids", "n", "sequence", "units")  # fmt: skip

    def __init__(self, keep: int = 0, *, is_sequential: bool = False) -> None:
        self._keep = keep
        self.sequence = ConfidenceSequence.of_differences() if is_sequential else None
        """Told the differences where they may have decided when sampling ended; only counts, so in any order."""
        self._mean = self._m2 = 0.0
        self.n = self.gained = self.lost = 0
        """`gained`: only B is right, `lost`: only A is; right means a score of at least a half."""
        self.gained_ids: list[str] = []
        self.lost_ids: list[str] = []
        self.is_binary = True
        self.a, self.b, self.units, self.left_out = MeanAccumulator(), MeanAccumulator(), Units(), LeftOut()

    def add(self, name: str, a: float, b: float, group: str | None) -> None:
        if not (0.0 <= a <= 1.0 and 0.0 <= b <= 1.0):
            raise ValueError(f"sample {name!r}: scores lie between 0 and 1, not {a}, {b}")
        self.n += 1
        if self.is_binary and (a not in (0.0, 1.0) or b not in (0.0, 1.0)):
            self.is_binary = False
        if (a < 0.5) != (b < 0.5):
            self._flip(name, a < 0.5)
        self.a.add_value(a, group)
        self.b.add_value(b, group)
        difference = b - a
        self.units.add(difference, group)
        if self.sequence is not None:
            self.sequence.update(difference)
        step = difference - self._mean
        self._mean += step / self.n
        self._m2 += step * (difference - self._mean)

    def _flip(self, name: str, is_gain: bool) -> None:
        if is_gain:
            self.gained += 1
        else:
            self.lost += 1
        ids = self.gained_ids if is_gain else self.lost_ids
        if len(ids) < self._keep:
            ids.append(name)

    @property
    def spread(self) -> float:
        """The standard deviation of the differences, sample by sample."""
        return math.sqrt(self._m2 / (self.n - 1)) if self.n > 1 else 0.0


def pair(a: Iterable[Mark], b: Iterable[Mark], *, keep: int = 0, is_sequential: bool = False) -> Pairs:
    """Match by sample id in one pass over both sides, which come in the order of their ids.

    The ids of the first `keep` flipped samples are kept each way. A sample that appears twice on one side is an error.
    """
    pairs = Pairs(keep, is_sequential=is_sequential)
    left, right = _ascending(a), _ascending(b)
    x, y = next(left, None), next(right, None)
    while x is not None and y is not None:
        if x[0] == y[0]:
            if x[1] is None or y[1] is None:
                pairs.left_out.add(x, y)
            else:
                pairs.add(x[0], x[1], y[1], y[2] if x[2] is None else x[2])
            x, y = next(left, None), next(right, None)
        elif x[0] < y[0]:
            pairs.left_out.add(x, None)
            x = next(left, None)
        else:
            pairs.left_out.add(None, y)
            y = next(right, None)
    for rest in chain(() if x is None else (x,), left):
        pairs.left_out.add(rest, None)
    for rest in chain(() if y is None else (y,), right):
        pairs.left_out.add(None, rest)
    return pairs


def _ascending(marks: Iterable[Mark]) -> Iterator[Mark]:
    before: str | None = None
    for mark in marks:
        if before is not None and mark[0] <= before:
            if mark[0] == before:
                raise ValueError(f"sample {before!r} appears twice; average its epochs first")
            raise ValueError(f"sample {mark[0]!r} comes after {before!r}: marks are paired in the order of their ids")
        before = mark[0]
        yield mark
