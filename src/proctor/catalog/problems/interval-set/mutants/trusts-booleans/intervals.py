"""Sets of whole numbers, kept as half-open intervals."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator

Pair = tuple[int, int]

_ITEM = re.compile(r" *(-?[0-9]+)(?:-(-?[0-9]+))? *")


class ParseError(ValueError):
    """A text is not a list of numbers and ranges; the message names the item."""


class IntervalSet:
    """An unchanging set of whole numbers; costs as much as it has intervals."""

    __slots__ = ("_ends", "_starts")

    def __init__(self, pairs: Iterable[Pair] = ()) -> None:
        """Make the set of all numbers of these half-open pairs."""
        self._starts: list[int] = []
        self._ends: list[int] = []
        for start, end in sorted(_checked(pair) for pair in pairs):
            if start < end:
                self._append(start, end)

    def _append(self, start: int, end: int) -> None:
        """Add an interval that starts no earlier than any before it."""
        if self._ends and start <= self._ends[-1]:
            self._ends[-1] = max(self._ends[-1], end)
        else:
            self._starts.append(start)
            self._ends.append(end)

    def pairs(self) -> list[Pair]:
        """Give the intervals, ascending, as few as there can be."""
        return list(self._intervals())

    def _intervals(self) -> Iterator[Pair]:
        return zip(self._starts, self._ends, strict=True)

    def union(self, other: IntervalSet) -> IntervalSet:
        """Give the numbers in either set."""
        return IntervalSet([*self._intervals(), *other._intervals()])

    def intersection(self, other: IntervalSet) -> IntervalSet:
        """Give the numbers in both sets."""
        found = IntervalSet()
        mine, theirs = self._intervals(), other._intervals()
        left, right = next(mine, None), next(theirs, None)
        while left and right:
            start, end = max(left[0], right[0]), min(left[1], right[1])
            if start < end:
                found._append(start, end)
            if left[1] < right[1]:
                left = next(mine, None)
            else:
                right = next(theirs, None)
        return found

    def difference(self, other: IntervalSet) -> IntervalSet:
        """Give the numbers of this set that are not in the other."""
        if not self._starts:
            return IntervalSet()
        return self.intersection(other.gaps(self._starts[0], self._ends[-1]))

    def contains(self, number: int) -> bool:
        """Say whether a number is in the set."""
        place = bisect_right(self._starts, number) - 1
        return place >= 0 and number < self._ends[place]

    def total(self) -> int:
        """Count the numbers of the set."""
        return sum(self._ends) - sum(self._starts)

    def gaps(self, start: int, end: int) -> IntervalSet:
        """Give the numbers from start up to end that are not in the set."""
        found = IntervalSet()
        position = start
        for taken_start, taken_end in self._from(start):
            if taken_start >= end:
                break
            if position < taken_start:
                found._append(position, taken_start)
            position = taken_end
        if position < end:
            found._append(position, end)
        return found

    def _from(self, number: int) -> Iterator[Pair]:
        """Give the intervals that end after a number."""
        first = bisect_right(self._ends, number)
        for place in range(first, len(self._starts)):
            yield self._starts[place], self._ends[place]

    def find_room(self, length: int, start: int) -> int:
        """Give the least number, not below start, with that much room after it."""
        position = start
        for taken_start, taken_end in self._from(start):
            if taken_start - position >= length:
                break
            position = taken_end
        return position

    def shift(self, distance: int) -> IntervalSet:
        """Give the set with a distance added to each number."""
        return IntervalSet((a + distance, b + distance) for a, b in self._intervals())

    def text(self) -> str:
        """Write the set with inclusive ends; parse reads it back."""
        return ",".join(
            f"{start}" if end - start == 1 else f"{start}-{end - 1}"
            for start, end in self._intervals()
        )


def _checked(pair: Pair) -> Pair:
    start, end = pair
    for number in pair:
        if not isinstance(number, int):
            raise TypeError(f"{number!r} is not an integer")
    if start > end:
        raise ValueError(f"{start} is greater than {end}")
    return start, end


def parse(text: str) -> IntervalSet:
    """Read a set written with inclusive ends, such as -4--2,0,7-9."""
    if not text.strip(" "):
        return IntervalSet()
    return IntervalSet(
        _parse_item(item, number) for number, item in enumerate(text.split(","), 1)
    )


def _parse_item(item: str, number: int) -> Pair:
    match = _ITEM.fullmatch(item)
    if match is None:
        raise ParseError(f"at item {number}: {item!r} is no number or range")
    first = int(match[1])
    last = int(match[2]) if match[2] else first
    if first > last:
        raise ParseError(f"at item {number}: {first} is greater than {last}")
    return first, last + 1
