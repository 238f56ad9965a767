"""Proves a benchmark before it is used: what `proctor benchmarks check` shows."""

from __future__ import annotations

from collections import Counter

from msgspec import Struct, field

from proctor.domain.benchmark import Benchmark
from proctor.domain.errors import BenchmarkError
from proctor.domain.message import Prompt
from proctor.domain.sample import Sample

NAMED = 5


class CheckReport(Struct, frozen=True):
    """What a benchmark holds, and what its author may want to look at."""

    name: str
    version: str
    count: int
    digest: str
    categories: dict[str, int]
    first_prompt: Prompt
    first_target: tuple[str, ...]
    missing_targets: int
    warnings: tuple[str, ...]


def check_benchmark(benchmark: Benchmark) -> CheckReport:
    """Read and render every sample; BenchmarkError names the lines of rows that cannot be used."""
    fingerprint = benchmark.samples.fingerprint()
    found = _Findings()
    first: tuple[Prompt, tuple[str, ...]] | None = None
    for sample in benchmark.samples:
        prompt = benchmark.renderer.render(sample)
        first = first or (prompt, sample.targets)
        found.add(sample, prompt)
    if first is None:
        raise BenchmarkError(f"The benchmark {benchmark.name!r} has no samples.")
    return CheckReport(
        name=benchmark.name,
        version=benchmark.version,
        count=fingerprint.count,
        digest=fingerprint.digest,
        categories=dict(sorted(found.categories.items())),
        first_prompt=first[0],
        first_target=first[1],
        missing_targets=found.without_target.count,
        warnings=found.warnings(),
    )


class _Some(Struct):
    """How many samples there are of a sort, and the ids of the first few."""

    count: int = 0
    first: list[str] = field(default_factory=list)

    def add(self, sample: Sample) -> None:
        self.count += 1
        if len(self.first) < NAMED:
            self.first.append(sample.id)

    def __str__(self) -> str:
        return ", ".join(self.first) + (", …" if self.count > NAMED else "")

    def say(self, one: str, many: str) -> str:
        return f"1 sample {one}: {self}" if self.count == 1 else f"{self.count} samples {many}: {self}"


class _Findings(Struct):
    categories: Counter[str] = field(default_factory=Counter)
    without_category: _Some = field(default_factory=_Some)
    without_target: _Some = field(default_factory=_Some)
    repeated: _Some = field(default_factory=_Some)
    count: int = 0
    _asked: set[int] = field(default_factory=set)
    """Hashes of the prompts so far: enough for a warning, and small."""

    def add(self, sample: Sample, prompt: Prompt) -> None:
        self.count += 1
        if sample.category is None:
            self.without_category.add(sample)
        else:
            self.categories[sample.category] += 1
        if not sample.targets:
            self.without_target.add(sample)
        asked = hash((prompt.messages, sample.follow_ups))
        if asked in self._asked:
            self.repeated.add(sample)
        self._asked.add(asked)

    def warnings(self) -> tuple[str, ...]:
        found = []
        if self.repeated.count:
            found.append(self.repeated.say("asks what another already asks", "ask what others already ask"))
        if self.categories and self.without_category.count:
            found.append(self.without_category.say("has no category, though others do", "have no category"))
        if 0 < self.without_target.count < self.count:  # where none has a target, none is meant to have one
            found.append(self.without_target.say("has no target", "have no target"))
        return tuple(found)
