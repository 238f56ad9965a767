"""Two systems' scores on the same samples, side by side, read once and in the order of their ids."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import chain, repeat
from typing import Protocol, runtime_checkable

from msgspec import Struct

from proctor.metrics.intervals import Cluster, MeanAccumulator, has_clusters
from proctor.metrics.moments import Moments

Mark = tuple[str, float | None, str | None, int]
"""A sample's id, its score (None where it was asked and has none), its group, and how many things the score is of."""


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


class Differences:
    """Single differences; those of 0 and 1 are only counted, others take eight bytes each."""

    __slots__ = ("down", "level", "others", "up")

    def __init__(self) -> None:
        self.up = self.down = self.level = 0
        self.others = array("d")

    def add(self, difference: float) -> None:
        if difference == 0.0:
            self.level += 1
        elif difference == 1.0:
            self.up += 1
        elif difference == -1.0:
            self.down += 1
        else:
            self.others.append(difference)

    def count(self, up: int, down: int, level: int) -> None:
        """Add so many of 1, of -1 and of 0."""
        self.up, self.down, self.level = self.up + up, self.down + down, self.level + level

    @property
    def n(self) -> int:
        return self.up + self.down + self.level + len(self.others)

    def values(self) -> Iterator[float]:
        """All that are not 0."""
        return chain(repeat(1.0, self.up), repeat(-1.0, self.down), self.others)

    def squares(self, mean: float) -> Iterator[float]:
        """The terms of the sum of the squares of (difference - mean)."""
        counted = (self.up * (1 - mean) ** 2, self.down * (1 + mean) ** 2, self.level * mean**2)
        return chain(counted, ((one - mean) ** 2 for one in self.others))


class Units:
    """What is independent of what: single differences, or their sums by group.

    A single group says nothing of how groups differ: its differences count one by one. A difference of several things
    counts as often as it weighs, and is one unit all the same.
    """

    __slots__ = ("_alone", "_grouped", "_groups")

    def __init__(self) -> None:
        # By weight: nearly always there is only that of 1.
        self._alone: dict[int, Differences] = {}
        self._grouped: dict[int, Differences] = {}
        self._groups: dict[str, Cluster] = {}

    def add(self, difference: float, group: str | None, weight: int = 1) -> None:
        of_weight = self._alone if group is None else self._grouped
        differences = of_weight.get(weight)
        if differences is None:
            differences = of_weight[weight] = Differences()
        differences.add(difference)
        if group is None:
            return
        cluster = self._groups.get(group)
        if cluster is None:
            cluster = self._groups[group] = Cluster()
        cluster.n += weight
        cluster.total += weight * difference

    def count(self, up: int, down: int, level: int) -> None:
        """Add so many differences of 1, of -1 and of 0 that belong to no group and weigh one each."""
        if up + down + level:
            self._alone.setdefault(1, Differences()).count(up, down, level)

    @property
    def n(self) -> int:
        """How many pairs there are in all units, each as often as it weighs."""
        return sum(weight * one.n for part in (self._alone, self._grouped) for weight, one in part.items())

    @property
    def is_weighted(self) -> bool:
        return any(weight != 1 for part in (self._alone, self._grouped) for weight in part)

    @property
    def is_clustered(self) -> bool:
        if sum(one.n for one in self._grouped.values()) == len(self._groups):
            return False  # each group has one sample
        single = sum(weight * one.n for weight, one in self._alone.items())
        return has_clusters(single, [cluster.n for cluster in self._groups.values()])

    @property
    def groups(self) -> int:
        """How many units there are where samples share groups, 0 where none do."""
        return self._units() if self.is_clustered else 0

    def _parts(self) -> list[tuple[int, Differences]]:
        """The differences that are units of their own, by weight."""
        return [*self._alone.items(), *(() if self.is_clustered else self._grouped.items())]

    def _clusters(self) -> list[Cluster]:
        """The groups that are units."""
        return [*self._groups.values()] if self.is_clustered else []

    def _units(self) -> int:
        return sum(one.n for _, one in self._parts()) + len(self._clusters())

    def sums(self) -> Iterator[float]:
        """The sum of the differences of each unit, those of 0 left out."""
        single = (weight * value for weight, one in self._parts() for value in one.values())
        return chain(single, (cluster.total for cluster in self._clusters() if cluster.total))

    def means(self, groups: Collection[str] | None) -> Iterator[float]:
        """The mean difference of each of these groups and of each sample that has none; of every sample for None."""
        parts = (self._alone, self._grouped) if groups is None else (self._alone,)
        single = (chain(one.values(), repeat(0.0, one.level)) for part in parts for one in part.values())
        whole = (one.total / one.n for name, one in self._groups.items() if groups is not None and name in groups)
        # Sums of fractions may miss the ends of the scale by a hair.
        return chain(chain.from_iterable(single), (min(1.0, max(-1.0, mean)) for mean in whole))

    @property
    def mean(self) -> float:
        return math.fsum(self.sums()) / self.n

    @property
    def effective(self) -> float:
        """How many equal units would say as much as these (Kish)."""
        squares = sum(weight**2 * one.n for weight, one in self._parts())
        return self.n**2 / (squares + sum(cluster.n**2 for cluster in self._clusters()))

    def stderr(self, mean: float) -> float | None:
        """The corrected clustered error (CR1) of the mean, or that of single pairs where it is larger."""
        error = self.single_stderr(mean)
        if self.is_clustered:
            single = _weighted_squares(self._alone, mean)
            clusters = ((cluster.total - cluster.n * mean) ** 2 for cluster in self._clusters())
            error = max(error, self._error(chain(single, clusters), self.groups))
        return error if error > 1e-12 else None

    def single_stderr(self, mean: float) -> float:
        """The error of the mean were all pairs independent of one another."""
        parts = (self._alone, self._grouped)
        count = sum(one.n for part in parts for one in part.values())
        return self._error(chain.from_iterable(_weighted_squares(part, mean) for part in parts), count)

    def _error(self, squares: Iterable[float], count: int) -> float:
        return math.sqrt(math.fsum(squares) * count / (count - 1)) / self.n if count > 1 else 0.0


def _weighted_squares(by_weight: Mapping[int, Differences], mean: float) -> Iterator[float]:
    return (weight**2 * square for weight, one in by_weight.items() for square in one.squares(mean))


class Pairs:
    """The samples both systems have a score for, as far as their statistics need them; ids of flips up to a number."""

    __slots__ = ("_differences", "_keep", "a", "b", "gained", "gained_ids", "is_binary", "left_out", "lost",
                 "lost_ids", "n", "units", "unlike")  # fmt: skip

    def __init__(self, keep: int = 0) -> None:
        self._keep = keep
        self._differences = Moments()
        self.n = self.gained = self.lost = self.unlike = 0
        """`gained`: only B is right, `lost`: only A is; right means a score of at least a half; `unlike`: the two
        sides weigh the sample differently, and the larger weight counts for both."""
        self.gained_ids: list[str] = []
        self.lost_ids: list[str] = []
        self.is_binary = True
        self.a, self.b, self.units, self.left_out = MeanAccumulator(), MeanAccumulator(), Units(), LeftOut()

    def add(self, name: str, a: float, b: float, group: str | None, weight: int = 1) -> None:
        if not (0.0 <= a <= 1.0 and 0.0 <= b <= 1.0):
            raise ValueError(f"sample {name!r}: scores lie between 0 and 1, not {a}, {b}")
        if weight == 0:
            return  # a share of no things is in no mean
        self.n += 1
        if self.is_binary and (a not in (0.0, 1.0) or b not in (0.0, 1.0)):
            self.is_binary = False
        if (a < 0.5) != (b < 0.5):
            self._flip(name, a < 0.5)
        difference = b - a
        self.a.add_value(a, group, weight)
        self.b.add_value(b, group, weight)
        self.units.add(difference, group, weight)
        self._differences.add(difference)

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
        found = self._differences
        return math.sqrt(found.squares(found.total / self.n) / (self.n - 1)) if self.n > 1 else 0.0

    def count(self, both: int, gained: int, lost: int, neither: int) -> None:
        """Add so many samples that both, only B, only A, or neither has right; they share no groups and weigh one."""
        self.n += both + gained + lost + neither
        self.gained, self.lost = self.gained + gained, self.lost + lost
        self.a.count(gained + neither, both + lost)
        self.b.count(lost + neither, both + gained)
        self.units.count(gained, lost, both + neither)
        self._differences.count(both + neither, gained)
        self._differences.repeat(-1.0, lost)


def pair(a: Iterable[Mark], b: Iterable[Mark], *, keep: int = 0) -> Pairs:
    """Match by sample id in one pass over both sides, which come in the order of their ids.

    The ids of the first `keep` flipped samples are kept each way. A sample that appears twice on one side is an error.
    """
    if isinstance(a, HasPackedMarks) and isinstance(b, HasPackedMarks):
        one, other = a.packed_marks(), b.packed_marks()
        if one is not None and other is not None and one.samples == other.samples:
            return _pair_packed(one, other, keep)
    return _pair_in_turn(a, b, keep)


class PackedMarks(Struct, frozen=True):
    """Right-or-wrong marks of samples that share no groups and weigh one, in the order of their ids."""

    samples: str
    """Names the ids and their order."""
    marks: bytes
    """A byte for each: 1 for right, 0 for wrong, 2 for one that was asked and has no mark."""
    name_at: Callable[[int], str]
    """The id at a place."""


def marks_in_turn(packed: PackedMarks) -> Iterator[Mark]:
    """The same marks one by one, for a side whose other side has different samples or is not packed."""
    values = (0.0, 1.0, None)
    return ((packed.name_at(place), values[mark], None, 1) for place, mark in enumerate(packed.marks))


@runtime_checkable
class HasPackedMarks(Protocol):
    """A side whose marks may be had at once, with the same results to the last digit."""

    def packed_marks(self) -> PackedMarks | None: ...


def _pair_packed(a: PackedMarks, b: PackedMarks, keep: int) -> Pairs:
    count = len(a.marks)
    joined = int.from_bytes(a.marks, "little") << 2 | int.from_bytes(b.marks, "little")
    both = joined.to_bytes(count, "little")

    def how_many(of_a: int, of_b: int) -> int:
        return both.count(of_a << 2 | of_b)

    pairs = Pairs(keep)
    pairs.count(how_many(1, 1), how_many(0, 1), how_many(1, 0), how_many(0, 0))
    pairs.gained_ids += [a.name_at(place) for place in _first(both, 0b0001, keep)]
    pairs.lost_ids += [a.name_at(place) for place in _first(both, 0b0100, keep)]
    left_out = pairs.left_out
    left_out.only_a_failed_in_b = how_many(1, 2) + how_many(0, 2)
    left_out.only_b_failed_in_a = how_many(2, 1) + how_many(2, 0)
    left_out.failed_in_both = how_many(2, 2)
    return pairs


def _first(both: bytes, what: int, count: int) -> Iterator[int]:
    place = -1
    for _ in range(count):
        place = both.find(what, place + 1)
        if place < 0:
            return
        yield place


def _pair_in_turn(a: Iterable[Mark], b: Iterable[Mark], keep: int) -> Pairs:
    pairs = Pairs(keep)
    left, right = _ascending(a), _ascending(b)
    x, y = next(left, None), next(right, None)
    while x is not None and y is not None:
        if x[0] == y[0]:
            if x[1] is None or y[1] is None:
                pairs.left_out.add(x, y)
            else:
                pairs.add(x[0], x[1], y[1], y[2] if x[2] is None else x[2], max(x[3], y[3]))
                pairs.unlike += x[3] != y[3]
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
