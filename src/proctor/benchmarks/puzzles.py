"""The generated puzzles as benchmarks: `puzzles`, and each kind by its name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from proctor.domain.benchmark import Benchmark, Fingerprint, ScorerSpec
from proctor.domain.errors import BenchmarkError, did_you_mean
from proctor.domain.sample import Sample
from proctor.domain.sample_digest import SampleDigest
from proctor.prompts.render import TemplateRenderer
from proctor.puzzles.family import FAMILY_VERSION, KINDS, make
from proctor.puzzles.puzzle import LEVELS

COUNT = 200
MAX_COUNT = 100_000
"""All of them are made once, for the benchmark's digest, before the first is asked: more would seem to hang."""


class PuzzleSamples(Struct, frozen=True):
    """Puzzles made when asked for; kinds change fastest, then levels, so that any beginning is a fair mixture."""

    seed: int
    kinds: tuple[str, ...]
    levels: tuple[int, ...]
    count: int

    def __iter__(self) -> Iterator[Sample]:
        return map(self._sample, range(self.count))

    def __len__(self) -> int:
        return self.count

    def at(self, positions: Sequence[int]) -> Iterator[Sample]:
        for position in positions:
            if not 0 <= position < self.count:
                raise BenchmarkError(f"There is no puzzle {position + 1}: there are {self.count}.")
            yield self._sample(position)

    def fingerprint(self) -> Fingerprint:
        made = SampleDigest()
        for sample in self:
            made.add(sample)
        return made.fingerprint()

    def _sample(self, position: int) -> Sample:
        rest, kind_place = divmod(position, len(self.kinds))
        number, level_place = divmod(rest, len(self.levels))
        kind, level = self.kinds[kind_place], self.levels[level_place]
        puzzle = make(self.seed, kind, level, number)
        # The id names the puzzle itself, seed included: equal ids are equal questions, in any run.
        sample_id = f"{kind}-{level}-{self.seed}-{number}"
        return Sample(sample_id, puzzle.question, puzzle.answer, category=kind, tags={"level": str(level)})


def puzzles(*, seed: int, count: int = COUNT, level: str = "1-5", kind: str = "all") -> Benchmark:
    """Puzzles of all kinds, made from the plan's seed: they cannot have been memorised."""
    names = KINDS if kind == "all" else tuple(part.strip() for part in kind.split(","))
    for name in names:
        if name not in KINDS:
            hint = did_you_mean(name, KINDS)
            raise BenchmarkError(f"There is no kind of puzzle {name!r}.{hint} There are: {', '.join(KINDS)}.")
    return _benchmark("puzzles", seed, count, level, names)


def _of_kind(kind: str) -> Callable[..., Benchmark]:
    def create(*, seed: int, count: int = COUNT, level: str = "1-5") -> Benchmark:
        return _benchmark(kind, seed, count, level, (kind,))

    create.__doc__ = f"{kind.capitalize()} puzzles, made from the plan's seed: they cannot have been memorised."
    return create


arithmetic = _of_kind("arithmetic")
dates = _of_kind("dates")
logic = _of_kind("logic")
sequences = _of_kind("sequences")
sorting = _of_kind("sorting")
strings = _of_kind("strings")


def _benchmark(name: str, seed: int, count: int, level: str, kinds: tuple[str, ...]) -> Benchmark:
    if count < 1:
        raise BenchmarkError(f"The parameter 'count' of {name!r} is {count}; it must be 1 or more.")
    if count > MAX_COUNT:
        raise BenchmarkError(f"The parameter 'count' of {name!r} is {count:,}; it must be {MAX_COUNT:,} or less.")
    return Benchmark(
        name=name,
        samples=PuzzleSamples(seed, kinds, _levels(level, name), count),
        renderer=TemplateRenderer(),
        scorers=(ScorerSpec("puzzle"),),
        version=FAMILY_VERSION,
        description=f"Generated puzzles ({', '.join(kinds)}), seeded by the plan, levels 1 to 5.",
        licence="Apache-2.0",
        source="generated",
        tags={"language": "en", "subject": "general", "task": "reasoning", "form": "short"},
    )


def _levels(text: str, name: str) -> tuple[int, ...]:
    levels: set[int] = set()
    for part in str(text).strip("[] ").split(","):
        match = re.fullmatch(r"\s*(\d+)\s*(?:-\s*(\d+)\s*)?", part)
        chosen = range(int(match[1]), int(match[2] or match[1]) + 1) if match else range(0)
        if not chosen or not set(chosen) <= set(LEVELS):
            raise BenchmarkError(
                f"The parameter 'level' of {name!r} is {text!r}; it must be a level from 1 to 5, a list of them"
                " (1,3) or a range (2-4)."
            )
        levels.update(chosen)
    return tuple(sorted(levels))
