"""One benchmark described and checked."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from proctor.benchmarks.check import check_benchmark
from proctor.benchmarks.registry import BenchmarkInfo, find_info, load_benchmark
from proctor.domain.benchmark import Benchmark
from proctor.domain.documents.benchmark import BenchmarkDescription, ShownMessage
from proctor.domain.errors import NoDataError
from proctor.domain.message import Json
from proctor.domain.plan import BenchmarkSpec
from proctor.domain.scorable import proven
from proctor.planning.plan_file import benchmark_spec
from proctor.runs.resolve import PlanContext
from proctor.scorers.registry import create_scorers


def describe_benchmark(name: str, context: PlanContext, *, is_check: bool = False) -> BenchmarkDescription:
    """What a benchmark is and holds; in a check every sample is put to its scorers, and the data must be at hand."""
    spec = benchmark_spec(name)
    benchmark = load_benchmark(spec, seed=0, folder=context.folder, data=context.data)
    info = find_info(spec, context.folder)
    if is_check:
        benchmark = _with_scorers(benchmark, spec, info, context)
    described = _describe(benchmark, info)
    try:
        return _with_contents(described, benchmark)
    except NoDataError as missing:
        if is_check:
            raise
        return replace(described, no_data=str(missing))


def _with_scorers(
    benchmark: Benchmark, spec: BenchmarkSpec, info: BenchmarkInfo | None, context: PlanContext
) -> Benchmark:
    """The benchmark with samples that its scorers are asked about; the scorers of its variants can be made, too."""
    scorers = create_scorers(benchmark.scorers, context.folder)
    variants = list(info.variants)[1:] if info is not None and "variant" not in spec.parameters else []
    for variant in variants:
        other = spec.model_copy(update={"parameters": {**spec.parameters, "variant": variant}})
        loaded = load_benchmark(other, seed=0, folder=context.folder, data=context.data)
        create_scorers(loaded.scorers, context.folder)
    return replace(benchmark, samples=proven(benchmark.samples, scorers))


def _describe(benchmark: Benchmark, info: BenchmarkInfo | None) -> BenchmarkDescription:
    """What is known without the data."""
    return BenchmarkDescription(
        name=benchmark.name,
        version=benchmark.version,
        description=benchmark.description,
        protocol=info.protocol if info else "",
        licence=benchmark.licence,
        source=benchmark.source,
        homepage=info.homepage if info else None,
        input=benchmark.input_kind,
        tags=benchmark.tags,
        shots=benchmark.shots,
        variants=info.variants if info else {},
        parameters=info.parameters if info else {},
        scorers=_scorers(benchmark),
        metrics=benchmark.metrics,
        options=benchmark.options,
        needs_sandbox=benchmark.needs_sandbox,
        samples=None,
    )


def _scorers(benchmark: Benchmark) -> dict[str, Mapping[str, Json]]:
    kinds = [scorer.name for scorer in benchmark.scorers]
    return {
        name if kinds.count(name) == 1 else str(options.get("name", options.get("label", name))): options
        for name, options in ((scorer.name, scorer.options) for scorer in benchmark.scorers)
    }


def _with_contents(described: BenchmarkDescription, benchmark: Benchmark) -> BenchmarkDescription:
    report = check_benchmark(benchmark)
    return replace(
        described,
        samples=report.count,
        digest=report.digest,
        categories=report.categories,
        first_prompt=[ShownMessage(item.role, item.shown) for item in report.first_prompt.messages],
        first_target=report.first_target,
        warnings=report.warnings,
    )
