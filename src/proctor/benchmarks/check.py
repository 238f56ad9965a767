"""Proves a benchmark before it is used: what `proctor benchmarks check` shows."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from proctor.domain.benchmark import Benchmark
from proctor.domain.errors import BenchmarkError
from proctor.domain.message import Prompt

NAMED = 5


@dataclass(frozen=True, slots=True)
class CheckReport:
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
    categories: Counter[str] = Counter()
    questions: dict[int, str] = {}
    repeated: list[str] = []
    without_target: list[str] = []
    without_category = 0
    first: tuple[Prompt, tuple[str, ...]] | None = None
    for sample in benchmark.samples:
        prompt = benchmark.renderer.render(sample)
        first = first or (prompt, sample.targets)
        if sample.category is None:
            without_category += 1
        else:
            categories[sample.category] += 1
        if not sample.targets:
            without_target.append(sample.id)
        if questions.setdefault(hash(prompt), sample.id) != sample.id:
            repeated.append(sample.id)
    if first is None:
        raise BenchmarkError(f"The benchmark {benchmark.name!r} has no samples.")
    warnings = []
    if repeated:
        warnings.append(f"{len(repeated)} samples ask what another already asks: {_named(repeated)}")
    if categories and without_category:
        warnings.append(f"{without_category} samples have no category, though others do")
    if without_target:
        warnings.append(f"{len(without_target)} samples have no target: {_named(without_target)}")
    return CheckReport(
        name=benchmark.name,
        version=benchmark.version,
        count=fingerprint.count,
        digest=fingerprint.digest,
        categories=dict(sorted(categories.items())),
        first_prompt=first[0],
        first_target=first[1],
        missing_targets=len(without_target),
        warnings=tuple(warnings),
    )


def _named(ids: list[str]) -> str:
    return ", ".join(ids[:NAMED]) + (", …" if len(ids) > NAMED else "")
