"""Which samples of a benchmark are asked: filters, and a seeded choice that is the same on every machine."""

from __future__ import annotations

import heapq
import sys
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct

from proctor.domain.benchmark import Fingerprint, Samples
from proctor.domain.errors import FilterError, did_you_mean
from proctor.domain.identity import rank
from proctor.domain.message import Json
from proctor.domain.sample import Sample
from proctor.domain.sample_digest import SampleDigest

__all__ = ["Filtered", "SelectedSamples", "Where", "rank", "select", "shuffle_key"]

Where = Mapping[str, Sequence[str]]
_Test = Callable[[Sample], bool]

ALL = sys.maxsize - 1
SHOWN = 20
"""How many of the available values an error lists."""


class SelectedSamples(Struct, frozen=True):
    """Some samples of others, in the order of `positions`; its fingerprint covers exactly these, in this order."""

    samples: Samples
    positions: Sequence[int]

    def __iter__(self) -> Iterator[Sample]:
        return self.samples.at(self.positions)

    def __len__(self) -> int:
        return len(self.positions)

    def at(self, positions: Sequence[int]) -> Iterator[Sample]:
        return self.samples.at([self.positions[position] for position in positions])

    def fingerprint(self) -> Fingerprint:
        """Digest and count of what is selected, in its order; everything there is to select from is proven first."""
        self.samples.fingerprint()
        made = SampleDigest()
        for sample in self:
            made.add(sample)
        return made.fingerprint()


class Filtered(SelectedSamples, frozen=True):
    """A selection in the order of the file: read through in one go rather than piece by piece."""

    test: _Test

    def __iter__(self) -> Iterator[Sample]:
        return (sample for sample in self.samples if self.test(sample))


def select(samples: Samples, where: Where, limit: int | None, seed: int, *, is_shuffled: bool = False) -> Samples:
    """The samples that `where` lets through, and of these the `limit` whose seeded hash of the id is smallest.

    Values of one key are alternatives, all keys must hold. Where a limit leaves something out, or samples are to be
    shuffled, the order is that of the hashes, so a smaller limit always gives the beginning of a larger one; else it
    is the order of the file: a limit that leaves nothing out selects exactly what no limit does. Shuffling keeps the
    samples of a group together, so that groups are complete one after another; of groups a smaller limit then gives
    some of a larger one's samples, not its beginning.
    """
    if not where and limit is None and not is_shuffled:
        return samples
    tests = [_test(key, values) for key, values in where.items()]

    def passes(sample: Sample) -> bool:
        return all(test(sample) for test in tests)

    seen = _Seen(where)
    if limit is None and not is_shuffled:
        positions = array("Q", (place for place, sample in enumerate(samples) if seen.let(sample, passes)))
        seen.refuse_what_matched_nothing(len(positions))
        return Filtered(samples, positions, passes)
    most = ALL if limit is None else limit
    ranked = _smallest(samples, lambda sample: seen.let(sample, passes), most + 1, seed)
    seen.refuse_what_matched_nothing(len(ranked))
    chosen = ranked[:most]
    if is_shuffled:
        chosen.sort(key=lambda one: shuffle_key(seed, one.id, one.group))
    if len(ranked) > most or is_shuffled:
        return SelectedSamples(samples, array("Q", (one.place for one in chosen)))
    return Filtered(samples, array("Q", sorted(one.place for one in ranked)), passes) if where else samples


def shuffle_key(seed: int, sample_id: str, group: str | None) -> tuple[bytes, bytes]:
    """A sample's place in an order that has nothing to do with its score, the samples of a group together."""
    place = rank(seed, sample_id)
    return (place if group is None else rank(seed, f"group\0{group}"), place)


class _Ranked(NamedTuple):
    place_in_order: bytes
    id: str
    place: int
    group: str | None


def _smallest(samples: Samples, passes: _Test, limit: int, seed: int) -> list[_Ranked]:
    """Only the best so far are kept: memory is bounded by the limit, not by the file."""
    ranked = (_Ranked(rank(seed, s.id), s.id, place, s.group) for place, s in enumerate(samples) if passes(s))
    return heapq.nsmallest(limit, ranked)


def _test(key: str, values: Sequence[str]) -> _Test:
    wanted, read = frozenset(values), _reader(key)
    return lambda sample: not wanted.isdisjoint(read(sample))


def _reader(key: str) -> Callable[[Sample], tuple[str, ...]]:
    """A sample's values for a key of `where`, as text; none when it has no such value."""
    head, _, rest = key.partition(".")
    if key == "category":
        return lambda sample: () if sample.category is None else (sample.category,)
    if key == "id":
        return lambda sample: (sample.id,)
    if head == "tags" and rest:
        return lambda sample: (sample.tags[rest],) if rest in sample.tags else ()
    if head == "metadata" and rest:
        return lambda sample: _texts(_dig(sample.metadata, rest))
    allowed = ("category", "id", "tags.NAME", "metadata.NAME")
    hint = did_you_mean(key, allowed)
    if key.isidentifier() and not hint:
        return lambda sample: (sample.tags[key],) if key in sample.tags else _texts(sample.metadata.get(key))
    raise FilterError(f"'where' cannot filter on {key!r}: use {', '.join(allowed[:-1])} or {allowed[-1]}.{hint}", key)


def _dig(metadata: Mapping[str, Json], path: str) -> Json:
    """A key as it is written, or a path through mappings."""
    if path in metadata:
        return metadata[path]
    value: Json = metadata
    for step in path.split("."):
        if not isinstance(value, Mapping) or step not in value:
            return None
        value = value[step]
    return value


def _texts(value: Json) -> tuple[str, ...]:
    if value is None or isinstance(value, Mapping):
        return ()
    if isinstance(value, bool):
        return ("true" if value else "false",)
    if isinstance(value, list | tuple):
        return tuple(text for item in value for text in _texts(item))
    return (str(value),)


class _Seen:
    """What there was to choose from, so that a filter that matches nothing can say what would have."""

    def __init__(self, where: Where) -> None:
        self.where = where
        self.readers = {key: _reader(key) for key in where}
        self.unmet: dict[str, set[str]] = {key: set(values) for key, values in where.items()}
        self.available: dict[str, dict[str, None]] = {key: {} for key in where}
        self.keys: dict[str, None] = {}

    def let(self, sample: Sample, passes: _Test) -> bool:
        for key, read in self.readers.items():
            unmet = self.unmet[key]
            if unmet:
                self._note(key, read(sample), unmet, sample)
        return passes(sample)

    def _note(self, key: str, values: tuple[str, ...], unmet: set[str], sample: Sample) -> None:
        unmet.difference_update(values)
        available = self.available[key]
        for value in values:
            # Bounded: ids are as many as samples, and only some are ever shown.
            if len(available) < 1000:
                available[value] = None
        if not values and len(self.keys) < SHOWN:
            self.keys.update(dict.fromkeys([f"tags.{name}" for name in sample.tags]))
            self.keys.update(dict.fromkeys([f"metadata.{name}" for name in sample.metadata]))
            if sample.category is not None:
                self.keys["category"] = None

    def refuse_what_matched_nothing(self, count: int) -> None:
        for key, unmet in self.unmet.items():
            if not unmet:
                continue
            value, available = min(unmet), sorted(self.available[key])
            if not available:
                known = sorted(self.keys)
                raise FilterError(
                    f"No sample has {key!r}, which 'where' filters on.{did_you_mean(key, known)}"
                    f" Available: {', '.join(known[:SHOWN]) or 'id'}.",
                    key,
                )
            more = f", … ({len(available)} in all)" if len(available) > SHOWN else ""
            raise FilterError(
                f"No sample has {key} {value!r}.{did_you_mean(value, available)}"
                f" Available: {', '.join(available[:SHOWN])}{more}.",
                key,
            )
        if self.where and count == 0:
            asked = ", ".join(f"{key}={'|'.join(values)}" for key, values in self.where.items())
            raise FilterError(f"No sample fulfils all of {asked} together; each alone is fulfilled by some.")
