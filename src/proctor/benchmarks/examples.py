"""Pools of worked examples: which are shown, and that those are not asked as well."""

from __future__ import annotations

import heapq
from array import array
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from proctor.domain.benchmark import Fingerprint, Samples
from proctor.domain.errors import BenchmarkError
from proctor.domain.identity import rank
from proctor.domain.sample import Sample
from proctor.domain.sample_digest import SampleDigest
from proctor.domain.scorable import proven
from proctor.domain.scorer import Scorer

Pick = Literal["first", "seeded"]


class ExamplePool:
    """The first examples of a pool, or those a seed ranks first; one set for all samples, or one for each category."""

    def __init__(
        self,
        samples: Samples,
        shots: int,
        *,
        seed: int,
        pick: Pick = "seeded",
        is_by_category: bool = False,
        label: str = "examples",
    ) -> None:
        self.samples, self.shots, self.seed = samples, shots, seed
        self.pick, self.is_by_category, self.label = pick, is_by_category, label

    def of(self, sample: Sample) -> tuple[Sample, ...]:
        category = sample.category if self.is_by_category else None
        found = self._chosen.get(category, ())
        if len(found) < self.shots:
            where = f" of the category {category!r}" if self.is_by_category else ""
            raise BenchmarkError(
                f"{self.shots} worked examples are to be shown, but {self.label} has {len(found)}{where}:"
                " ask for fewer shots"
            )
        return found

    @property
    def digest(self) -> str:
        made = SampleDigest()
        for _, examples in sorted(self._chosen.items(), key=lambda item: item[0] or ""):
            for example in examples:
                made.add(example)
        return made.fingerprint().digest

    @property
    def ids(self) -> frozenset[str]:
        return frozenset(example.id for examples in self._chosen.values() for example in examples)

    @cached_property
    def _chosen(self) -> dict[str | None, tuple[Sample, ...]]:
        """Only the best so far are kept: memory is bounded by the shots, not by the pool."""
        best: dict[str | None, list[tuple[bytes, int, Sample]]] = {}
        for place, sample in enumerate(self.samples):
            kept = best.setdefault(sample.category if self.is_by_category else None, [])
            key = rank(self.seed, sample.id) if self.pick == "seeded" else place.to_bytes(8, "big")
            kept.append((key, place, sample))
            if len(kept) > 4 * self.shots + 16:
                kept[:] = heapq.nsmallest(self.shots, kept)
        return {
            category: tuple(sample for _, _, sample in heapq.nsmallest(self.shots, kept))
            for category, kept in best.items()
        }


class Remaining(Struct, frozen=True, dict=True):
    """The samples that are not shown as examples."""

    samples: Samples
    pool: ExamplePool

    def proven_by(self, scorers: Sequence[Scorer]) -> Remaining:
        return replace(self, samples=proven(self.samples, scorers))

    def __iter__(self) -> Iterator[Sample]:
        shown = self.pool.ids
        return (sample for sample in self.samples if sample.id not in shown)

    def at(self, positions: Sequence[int]) -> Iterator[Sample]:
        kept = self._kept
        for position in positions:
            if position >= len(kept):
                raise BenchmarkError(f"There is no sample {position + 1}: {len(kept)} are left beside the examples.")
        return self.samples.at([kept[position] for position in positions])

    def fingerprint(self) -> Fingerprint:
        """Digest and count of what is left; everything, examples too, is proven first."""
        self.samples.fingerprint()
        made = SampleDigest()
        for sample in self:
            made.add(sample)
        return made.fingerprint()

    @cached_property
    def _kept(self) -> array[int]:
        shown = self.pool.ids
        return array("Q", (place for place, sample in enumerate(self.samples) if sample.id not in shown))
