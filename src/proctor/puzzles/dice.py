"""Seeded chance that is the same everywhere.

Python promises a stable sequence only for `random.random()`, not for `randrange`, `shuffle` or `choice`; this is
SplitMix64 (a 64-bit counter and a mixer), seeded by BLAKE2b: whole numbers only, so that machine, platform and
version cannot matter, and cheap enough to start anew for every puzzle.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import TypeVar

_MASK = (1 << 64) - 1
T = TypeVar("T")


class Dice:
    """Deterministic chance for one puzzle, named by anything whose text is stable."""

    __slots__ = ("_state",)

    def __init__(self, *name: int | str) -> None:
        text = "\0".join(map(str, name)).encode()
        self._state = int.from_bytes(blake2b(text, digest_size=8).digest(), "big")

    def _next(self) -> int:
        self._state = (self._state + 0x9E3779B97F4A7C15) & _MASK
        mixed = self._state
        mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _MASK
        return mixed ^ (mixed >> 31)

    def below(self, bound: int) -> int:
        """A whole number from 0 up to, but not including, `bound`; the bias is under bound / 2**64."""
        return (self._next() * bound) >> 64

    def between(self, low: int, high: int) -> int:
        """A whole number from `low` to `high`, both included."""
        return low + self.below(high - low + 1)

    def pick(self, items: Sequence[T]) -> T:
        return items[self.below(len(items))]

    def sample(self, items: Sequence[T], count: int) -> list[T]:
        """`count` different places of `items`, in random order."""
        pool = list(items)
        for place in range(count):
            other = place + self.below(len(pool) - place)
            pool[place], pool[other] = pool[other], pool[place]
        return pool[:count]
