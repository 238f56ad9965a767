"""Two systems' scores on the same samples, side by side."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field

from proctor.domain.estimate import SampleScore


@dataclass(slots=True)
class Pairs:
    """The samples both systems answered; each list has one entry per pair."""

    ids: list[str] = field(default_factory=list)
    a: array[float] = field(default_factory=lambda: array("d"))
    b: array[float] = field(default_factory=lambda: array("d"))
    groups: list[str | None] = field(default_factory=list)
    only_a: int = 0
    only_b: int = 0

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def differences(self) -> list[float]:
        return [b - a for a, b in zip(self.a, self.b, strict=True)]

    @property
    def is_binary(self) -> bool:
        return all(value in (0.0, 1.0) for side in (self.a, self.b) for value in side)

    @property
    def is_clustered(self) -> bool:
        named = [group for group in self.groups if group is not None]
        return len(set(named)) < len(named)

    def flipped(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """(gained, lost): samples only B, and only A, answered rightly; right means a score of at least a half."""
        sides = list(zip(self.ids, self.a, self.b, strict=True))
        gained = tuple(name for name, a, b in sides if a < 0.5 <= b)
        return gained, tuple(name for name, a, b in sides if b < 0.5 <= a)


def pair(a: Iterable[SampleScore], b: Iterable[SampleScore]) -> Pairs:
    """Match by sample id; a sample that appears twice in one system is an error."""
    waiting: dict[str, SampleScore] = {}
    for score in a:
        if score.sample_id in waiting:
            raise ValueError(f"sample {score.sample_id!r} appears twice; average its epochs first")
        waiting[score.sample_id] = score
    pairs = Pairs()
    seen: set[str] = set()
    for score in b:
        if score.sample_id in seen:
            raise ValueError(f"sample {score.sample_id!r} appears twice; average its epochs first")
        seen.add(score.sample_id)
        other = waiting.get(score.sample_id)
        if other is None:
            pairs.only_b += 1
            continue
        pairs.ids.append(score.sample_id)
        if not (0.0 <= other.value <= 1.0 and 0.0 <= score.value <= 1.0):
            raise ValueError(
                f"sample {score.sample_id!r}: scores lie between 0 and 1, not {other.value}, {score.value}"
            )
        pairs.a.append(other.value)
        pairs.b.append(score.value)
        pairs.groups.append(score.group if other.group is None else other.group)
    pairs.only_a = len(waiting) - len(pairs)
    return pairs


@dataclass(frozen=True, slots=True)
class Units:
    """What is independent of what: sums of differences by group, or single differences."""

    sums: tuple[float, ...]
    sizes: tuple[int, ...]

    @classmethod
    def of(cls, pairs: Pairs) -> Units:
        alone: list[float] = []
        groups: dict[str, tuple[float, int]] = {}
        for difference, group in zip(pairs.differences, pairs.groups, strict=True):
            if group is None:
                alone.append(difference)
            else:
                total, count = groups.get(group, (0.0, 0))
                groups[group] = (total + difference, count + 1)
        sums = (*alone, *(total for total, _ in groups.values()))
        return cls(sums, (*(1 for _ in alone), *(count for _, count in groups.values())))

    @property
    def effective(self) -> float:
        """How many equal units would say as much as these (Kish)."""
        n = sum(self.sizes)
        return n * n / sum(size * size for size in self.sizes)

    def stderr(self, mean: float) -> float | None:
        """The corrected clustered error (CR1) of the mean, which is the usual one for units of one pair."""
        count, n = len(self.sums), sum(self.sizes)
        if count < 2:
            return None
        squares = math.fsum([(s - size * mean) ** 2 for s, size in zip(self.sums, self.sizes, strict=True)])
        error = math.sqrt(squares * count / (count - 1)) / n
        return error if error > 1e-12 else None
