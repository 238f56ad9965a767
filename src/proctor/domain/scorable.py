"""Whether samples can be scored at all: asked of the scorers before anything is paid for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, runtime_checkable

from msgspec import Struct

from proctor.domain.benchmark import Fingerprint, Samples
from proctor.domain.errors import BenchmarkError
from proctor.domain.sample import Sample
from proctor.domain.scorer import Scorer, Selective

REPORTED = 10


@runtime_checkable
class Provable(Protocol):
    """Samples that can have scorers asked about each of them while they are read anyway."""

    def proven_by(self, scorers: Sequence[Scorer]) -> Samples: ...


def proven(samples: Samples, scorers: Sequence[Scorer]) -> Samples:
    """The same samples; their fingerprint refuses those that none of the scorers can score."""
    if not any(isinstance(scorer, Selective) for scorer in scorers):
        return samples
    return samples.proven_by(scorers) if isinstance(samples, Provable) else _Proven(samples, tuple(scorers))


class ScorabilityCheck:
    """One walk through a benchmark's samples, with the question to its scorers whether each can be scored."""

    def __init__(self, scorers: Sequence[Scorer]) -> None:
        self._asked: list[tuple[str, Callable[[Sample], str | None]]] = [
            (scorer.name, scorer.obstacle) for scorer in scorers if isinstance(scorer, Selective)
        ]
        self._is_never_stuck = len(self._asked) < len(scorers)
        self._idle: dict[str, str] = {name: "" for name, _ in self._asked}

    def obstacle(self, sample: Sample) -> str | None:
        """Why none of the scorers can score it; None when one can: a benchmark may mix samples of several sorts."""
        is_stuck, first = not self._is_never_stuck, None
        for name, ask in self._asked:
            reason = ask(sample)
            if reason is None:
                is_stuck = False
                self._idle.pop(name, None)
            else:
                first = first or f"the scorer {name!r} cannot score it: {reason}"
                if self._idle.get(name) == "":
                    self._idle[name] = reason
        return first if is_stuck else None

    def refuse_idle(self, label: str) -> None:
        """A scorer that could score no sample at all is a mistake, whatever the others can."""
        for name, reason in self._idle.items():
            if reason:
                raise BenchmarkError(
                    f"{label}: the scorer {name!r} can score none of the samples; of the first it says: {reason}."
                )


class _Proven(Struct, frozen=True):
    """Samples that are walked through once more to be proven; they are named by their ids."""

    samples: Samples
    scorers: tuple[Scorer, ...]

    def __iter__(self) -> Iterator[Sample]:
        return iter(self.samples)

    def at(self, positions: Sequence[int]) -> Iterator[Sample]:
        return self.samples.at(positions)

    def fingerprint(self) -> Fingerprint:
        proof, bad, count = ScorabilityCheck(self.scorers), dict[str, list[str]](), 0
        for sample in self.samples:
            reason = proof.obstacle(sample)
            if reason is not None:
                count += 1
                if count <= REPORTED:
                    bad.setdefault(reason, []).append(sample.id)
        if count:
            faults = "; ".join(f"{', '.join(ids)}: {reason}" for reason, ids in bad.items())
            more = f"; and {count - REPORTED} more" if count > REPORTED else ""
            raise BenchmarkError(f"{count} samples cannot be scored: {faults}{more}.")
        proof.refuse_idle("the benchmark")
        return self.samples.fingerprint()
