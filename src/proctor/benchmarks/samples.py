"""The samples of a data set: mapped as they are read, checked before anything is paid for."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from proctor.benchmarks.mapping import Mapper
from proctor.benchmarks.rows import BadRow, Rows
from proctor.domain.benchmark import Fingerprint, Renderer
from proctor.domain.errors import BenchmarkError, TemplateLimitError
from proctor.domain.sample import Sample
from proctor.domain.sample_digest import SampleDigest
from proctor.domain.scorable import ScorabilityCheck
from proctor.domain.scorer import Scorer

_NUL = b"\\u0000"
REPORTED = 10
"""How many bad rows an error lists; it always says how many there are."""


@dataclass(frozen=True, slots=True)
class MappedSamples:
    """Samples made from rows, one at a time."""

    rows: Rows
    mapper: Mapper
    needs_target: str | None = None
    """The scorer that cannot do without a target: a row that has none is then a bad row."""
    proof: Renderer | None = field(default=None, compare=False)
    """A renderer that may fail for some samples: tried on all of them before anything is paid for."""
    scorers: tuple[Scorer, ...] = field(default=(), compare=False)
    """Asked of all samples, before anything is paid for, whether they can be scored."""

    def proven_by(self, scorers: Sequence[Scorer]) -> MappedSamples:
        """The same samples; a row that none of the scorers can score is a bad row."""
        return replace(self, scorers=tuple(scorers))

    def __iter__(self) -> Iterator[Sample]:
        make = self.mapper.sample
        for number, (_, row) in enumerate(self.rows, start=1):
            if type(row) is BadRow:
                self._complain()
            try:
                sample = make(row, number)
            except ValueError:
                self._complain()
            yield sample

    def at(self, positions: Sequence[int]) -> Iterator[Sample]:
        for position, (place, row) in zip(positions, self.rows.at(positions), strict=True):
            sample = self._made(row, position + 1)
            if isinstance(sample, BadRow):
                raise BenchmarkError(f"{self.rows.label}, {self.rows.unit} {place}: {sample.reason}.")
            yield sample

    def fingerprint(self) -> Fingerprint:
        """Read everything once; BenchmarkError lists the first bad rows, and any id that is there twice."""
        if self.proof is not None:
            # Worked examples are read here, once: a pool that cannot be had is not the fault of every row.
            _ = self.proof.digest
        made, ids = SampleDigest(), _Ids()
        proof = ScorabilityCheck(self.scorers) if self.scorers else None
        bad: dict[str, list[int]] = {}
        count = number = 0
        for place, row in self.rows:
            number += 1
            sample = self._checked(row, number, made, proof)
            if isinstance(sample, BadRow):
                count += 1
                if count <= REPORTED:
                    bad.setdefault(sample.reason, []).append(place)
            else:
                ids.add(sample.id)
        if count:
            raise _bad_rows(self.rows, bad, count, number)
        if number == 0:
            raise BenchmarkError(f"{self.rows.label} holds no rows.")
        self._refuse_repeated(ids.suspects())
        if proof is not None:
            proof.refuse_idle(self.rows.label)
        return made.fingerprint()

    def _checked(self, row: Any, number: int, made: SampleDigest, proof: ScorabilityCheck | None) -> Sample | BadRow:
        sample = self._made(row, number)
        if isinstance(sample, BadRow):
            return sample
        if self.needs_target is not None and not sample.targets:
            return BadRow(f"there is no target, and the scorer {self.needs_target!r} needs one")
        if proof is not None and (obstacle := proof.obstacle(sample)) is not None:
            return BadRow(obstacle)
        try:
            # Only where the JSON has a NUL, or the letters that look like one, is the sample looked through.
            if made.add(sample).find(_NUL) >= 0 and _holds_nul(sample):
                return BadRow("it holds a NUL character, which no database takes as text")
            if self.proof is not None:
                self.proof.render(sample)
        except TemplateLimitError:
            raise  # the other rows would each take as long
        except BenchmarkError as fault:
            return BadRow(str(fault).removesuffix("."))
        except (TypeError, ValueError) as fault:
            return BadRow(f"it holds a value that is not JSON: {fault}")
        return sample

    def _made(self, row: Any, number: int) -> Sample | BadRow:
        if type(row) is BadRow:
            return row
        try:
            return self.mapper.sample(row, number)
        except ValueError as fault:
            return BadRow(str(fault).removesuffix("."))

    def _complain(self) -> None:
        """A bad row was met on the way: say everything there is to say about this data at once."""
        self.fingerprint()
        raise BenchmarkError(f"{self.rows.label} was changed while it was in use; run again with it as it is now.")

    def _refuse_repeated(self, suspects: frozenset[int]) -> None:
        if not suspects:
            return
        seen: dict[str, int] = {}
        for number, (place, row) in enumerate(self.rows, start=1):
            sample = self.mapper.sample(row, number)
            if hash(sample.id) not in suspects:
                continue
            if sample.id in seen:
                first, unit = seen[sample.id], self.rows.unit
                raise BenchmarkError(
                    f"{self.rows.label}: the id {sample.id!r} is there twice, on {unit} {first} and {unit} {place};"
                    " each sample needs an id of its own."
                )
            seen[sample.id] = place


def _holds_nul(sample: Sample) -> bool:
    """Whether a text that is stored by itself does; in nested values it is stored as an escape."""
    texts = (sample.id, sample.input, sample.category, sample.group, *sample.targets)
    return any("\0" in text for text in texts if isinstance(text, str))


class _Ids:
    """Finds repeated ids in eight bytes an id: their hashes, compared within groups once all are there."""

    GROUPS = 64

    def __init__(self) -> None:
        self._hashes = [array("q") for _ in range(self.GROUPS)]

    def add(self, sample_id: str) -> None:
        number = hash(sample_id)
        self._hashes[number % self.GROUPS].append(number)

    def suspects(self) -> frozenset[int]:
        """Hashes met more than once; nearly always ids met more than once."""
        found: set[int] = set()
        for group in self._hashes:
            if len(set(group)) < len(group):
                ordered = sorted(group)
                found.update(a for a, b in pairwise(ordered) if a == b)
        return frozenset(found)


def _bad_rows(rows: Rows, bad: Mapping[str, Sequence[int]], count: int, total: int) -> BenchmarkError:
    """Rows with the same fault share its words."""
    faults = [
        f"{rows.unit}{'s' if len(places) > 1 else ''} {', '.join(map(str, places))}: {reason}"
        for reason, places in bad.items()
    ]
    more = f"; and {count - REPORTED} more" if count > REPORTED else ""
    head = f"{rows.label}: {count} bad {'row' if count == 1 else 'rows'} of {total}"
    return BenchmarkError(f"{head}: {'; '.join(faults)}{more}.")
