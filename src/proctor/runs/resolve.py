"""A plan names things; here they are found, fixed and checked, before anything is paid for."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from proctor.benchmarks.registry import load_benchmark
from proctor.domain.benchmark import Benchmark, Fingerprint, Samples
from proctor.domain.errors import BenchmarkError, PlanError
from proctor.domain.evaluation import Evaluation
from proctor.domain.model import Model
from proctor.domain.plan import BenchmarkSpec, Plan
from proctor.domain.scorer import Scorer
from proctor.models.registry import create_model
from proctor.planning.selection import select
from proctor.scorers.registry import create_scorer

ALL = sys.maxsize


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a plan is read in: its folder, the environment with its keys, a folder with data."""

    folder: Path
    environment: Mapping[str, str]
    data: Path | None = None


@dataclass(frozen=True, slots=True)
class _Prepared:
    benchmark: Benchmark
    samples: Samples
    fingerprint: Fingerprint
    scorers: tuple[Scorer, ...]


def resolve(plan: Plan, surroundings: Surroundings) -> list[Evaluation]:
    """Every model with every benchmark, in the plan's order; raises a UserError for anything that cannot be used."""
    _refuse_unenforceable(plan)
    models = [
        (spec, create_model(spec, environment=surroundings.environment, folder=surroundings.folder))
        for spec in plan.models
    ]
    prepared = [(spec, _prepare(spec, plan, surroundings)) for spec in plan.benchmarks]
    return [
        Evaluation(
            label=plan.label(model_spec),
            model_spec=model_spec,
            benchmark_spec=benchmark_spec,
            model=model,
            benchmark=item.benchmark,
            samples=item.samples,
            fingerprint=item.fingerprint,
            scorers=item.scorers,
            options={**item.benchmark.options, **plan.sampling.given(), **model_spec.sampling.given()},
            epochs=benchmark_spec.epochs or plan.epochs,
            use_cache=plan.cache,
        )
        for model_spec, model in models
        for benchmark_spec, item in prepared
    ]


def _prepare(spec: BenchmarkSpec, plan: Plan, surroundings: Surroundings) -> _Prepared:
    benchmark = load_benchmark(spec, seed=plan.seed, folder=surroundings.folder, data=surroundings.data)
    # A rule that may stop early needs a random order, which drawing a number of samples gives.
    limit = spec.limit or (ALL if plan.until is not None else None)
    samples = select(benchmark.samples, spec.where, limit, plan.seed)
    fingerprint = samples.fingerprint()
    if fingerprint.count == 0:
        raise BenchmarkError(f"{benchmark.name} has no samples.")
    scorers = tuple(create_scorer(scorer, surroundings.folder) for scorer in benchmark.scorers)
    return _Prepared(benchmark, samples, fingerprint, scorers)


def _refuse_unenforceable(plan: Plan) -> None:
    """A cap that cannot be enforced is refused, not ignored."""
    if plan.limits.cost_usd is not None:
        raise PlanError(
            "The cost limit cannot be enforced: this version knows no prices. "
            "Leave out --max-cost (limits.cost_usd), or limit the time with --max-minutes."
        )


async def close_models(evaluations: list[Evaluation]) -> None:
    """Let go of every connection; a model of several evaluations is closed once."""
    models: dict[int, Model] = {id(evaluation.model): evaluation.model for evaluation in evaluations}
    for model in models.values():
        await model.close()
