"""A plan names things; here they are found, fixed and checked, before anything is paid for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from proctor import plugins
from proctor.benchmarks.registry import load_benchmark
from proctor.domain.artifacts import Artifacts
from proctor.domain.benchmark import Benchmark, Fingerprint, Samples
from proctor.domain.errors import (
    BenchmarkError,
    FilterError,
    MissingKeyError,
    NotFoundError,
    PlanError,
    did_you_mean,
    in_field,
)
from proctor.domain.evaluation import Evaluation
from proctor.domain.listed_models import ModelLists
from proctor.domain.model import Model, ScoresTexts, is_cached
from proctor.domain.plan import BenchmarkSpec, Limits, ModelSpec, Plan
from proctor.domain.price import Price
from proctor.domain.scorable import proven
from proctor.domain.scorer import NeedsLikelihoods, Scorer
from proctor.judges.asking import JudgeRegistry, give_opponents, judges_of
from proctor.models.cost_limit import refuse_unenforceable
from proctor.models.key_hosts import with_key_hosts
from proctor.models.prices import find_price, read_assumed
from proctor.models.registry import create_model
from proctor.offline import confined
from proctor.planning.matrix import expand_matrix
from proctor.planning.selection import select
from proctor.scorers.registry import create_scorers
from proctor.stores.database import Database

NO_KEY = "not-set"
"""Stands for a key where nothing is asked."""


class HasProjectKeys(Protocol):
    """Knows the keys that projects have of their own."""

    def of_project(self, project: str) -> Mapping[str, str]:
        """What is added to the environment in which a run of the project finds its keys."""


class PlanContext(Struct, frozen=True):
    """What a plan is read in: its folder, the environment with its keys, a folder with data."""

    folder: Path
    environment: Mapping[str, str]
    data: Path | None = None
    prices: Path | None = None
    """A file with prices that win over the list."""
    is_offline: bool = False
    """Whether nothing beyond this machine may be connected to, whatever a plan says."""
    lists: ModelLists | None = None
    """What providers listed of their models, with prices; None where nothing of that is kept."""
    artifacts: Artifacts | None = None
    """Where programs, logs and other large bodies are kept; None keeps none of them."""
    home: Path | None = None
    """Where it is noted which problems were proven on this machine; None proves them in every run."""
    project_keys: HasProjectKeys | None = None
    """The keys of projects; None where there are those of the environment only."""

    def of_project(self, project: str) -> PlanContext:
        """The same with the keys that the project has of its own, and with what was listed for them."""
        own = {} if self.project_keys is None else self.project_keys.of_project(project)
        lists = None if self.lists is None else self.lists.of_project(project)
        return replace(self, environment={**self.environment, **own} if own else self.environment, lists=lists)

    def allowing(self, plan: Plan) -> PlanContext:
        """The same, with keys allowed to go where the user said when this plan was made."""
        return replace(self, environment=with_key_hosts(self.environment, plan.key_hosts))


class _Prepared(Struct, frozen=True):
    benchmark: Benchmark
    samples: Samples
    fingerprint: Fingerprint
    scorers: tuple[Scorer, ...]


def resolve(plan: Plan, context: PlanContext, database: Database | None = None) -> list[Evaluation]:
    """Every model with every benchmark, varied as the plan says; raises a UserError for what cannot be used.

    Scorers that compare with another run get its answers from the `database`; without one, they can score nothing.
    """
    with confined(plan.offline or context.is_offline):
        return _resolve(expand_matrix(plan, context.folder), context.allowing(plan), database)


def check_names(plan: Plan, context: PlanContext) -> None:
    """Raises a UserError for a model, a benchmark or a rule that there is not; no data is read, no key is needed."""
    plan, context = expand_matrix(plan, context.folder), context.allowing(plan)
    with confined(plan.offline or context.is_offline):
        if plan.until is not None:
            from proctor.stopping.rule import rule_of

            with in_field("until"):
                rule_of(plan)
        for part, specs in (("models", plan.models), ("judge", plan.judge)):
            for index, spec in enumerate(specs):
                with in_field(part, index), suppress(MissingKeyError):  # who executes it may have the key
                    create_model(spec, environment=context.environment, folder=context.folder)
        _refuse_unknown_helpers(plan, context)
        for _ in load_benchmarks(plan, context):
            pass


def resolve_without_keys(plan: Plan, context: PlanContext) -> tuple[list[Evaluation], list[str]]:
    """Like `resolve`, for looking only: also gives the variables whose keys a run will need and that are not set."""
    missing: dict[str, str] = {}
    while True:
        try:
            found = resolve(plan, replace(context, environment={**context.environment, **missing}))
        except MissingKeyError as error:
            if error.variable in missing:
                raise
            missing[error.variable] = NO_KEY
        else:
            return found, list(missing)


def unused_judges(plan: Plan, evaluations: Sequence[Evaluation]) -> str | None:
    """Words for judges that a plan names although no scorer of it asks one; None where there are none."""
    if not plan.judge or judges_of(scorer for item in evaluations for scorer in item.scorers):
        return None
    names = ", ".join(spec.short for spec in plan.judge)
    scorers = ", ".join(dict.fromkeys(scorer.name for item in evaluations for scorer in item.scorers))
    return f"The judge {names} is not asked: no scorer here is one that judges ({scorers})."


def _resolve(plan: Plan, context: PlanContext, database: Database | None) -> list[Evaluation]:
    if plan.until is not None:
        from proctor.stopping.rule import rule_of  # few runs have a rule, and it is not free to import

        with in_field("until"):
            rule_of(plan)
    models = _create_models(plan, context)
    _refuse_unknown_helpers(plan, context)
    prepared = _prepare_all(plan, context, database)
    evaluations = [
        _evaluation(plan, model_spec, model, price, benchmark_spec, item)
        for (model_spec, model), price in zip(models, _prices(plan, models, context), strict=True)
        for benchmark_spec, item in prepared
    ]
    for item in evaluations:
        _refuse_without_likelihoods(item)
    if plan.until is not None:
        from proctor.stopping.watched_metric import metric_to_watch

        with in_field("until"):
            for item in evaluations:
                metric_to_watch(item)
    if plan.batch:
        from proctor.batches.execute import refuse_unbatchable

        refuse_unbatchable(plan, evaluations)
    if plan.limits.cost_usd is not None:
        for item in evaluations:
            refuse_unenforceable(item.label, item.model, item.price, item.options, "--max-tokens")
    return evaluations


def _create_models(plan: Plan, context: PlanContext) -> list[tuple[ModelSpec, Model]]:
    models = []
    for index, spec in enumerate(plan.models):
        with in_field("models", index):
            models.append((spec, create_model(spec, environment=context.environment, folder=context.folder)))
    return models


def _refuse_without_likelihoods(item: Evaluation) -> None:
    """Else every answer would be paid for, and none could be scored."""
    names = [scorer.name for scorer in item.scorers if isinstance(scorer, NeedsLikelihoods)]
    if names and not (isinstance(item.model, ScoresTexts) and item.model.scores_texts):
        raise PlanError(
            f"{item.benchmark.name} is scored by the likelihood of whole choices ({', '.join(names)}), which "
            f"{item.label} does not give. Ask a model that does (completions/… on a server that echoes "
            "log-probabilities), or ask for letters (the scorer 'choice'; lm-eval: without ?choices=likelihood)."
        )


def _refuse_unknown_helpers(plan: Plan, context: PlanContext) -> None:
    """A judge or a sandbox that does not exist is a mistake, whether or not a benchmark turns out to need it."""
    for spec in plan.judge:
        with suppress(MissingKeyError):  # which matters only where the judge is asked
            create_model(spec, environment=context.environment, folder=context.folder)
    kinds = ("sandboxes", "runners")
    if plan.sandbox is not None and not any(plugins.is_known(kind, plan.sandbox) for kind in kinds):
        known = sorted({name for kind in kinds for name in plugins.names(kind)})
        hint = did_you_mean(plan.sandbox, known)
        raise NotFoundError(f"No sandbox {plan.sandbox!r}.{hint} There are: {', '.join(known)}.")


def _prepare_all(plan: Plan, context: PlanContext, database: Database | None) -> list[tuple[BenchmarkSpec, _Prepared]]:
    judges = JudgeRegistry(
        plan.judge,
        plan.limits,
        environment=context.environment,
        folder=context.folder,
        price_of=lambda model: price_of(model, plan.limits, context),
    )
    prepared = [
        (spec, _prepare(index, spec, benchmark, plan, context, judges, database))
        for index, (spec, benchmark) in enumerate(load_benchmarks(plan, context))
    ]
    return [(_pinned(spec, item.benchmark), item) for spec, item in prepared]


def load_benchmarks(plan: Plan, context: PlanContext) -> Iterator[tuple[BenchmarkSpec, Benchmark]]:
    """The plan's benchmarks, one after another; no data is read for it."""
    for index, spec in enumerate(plan.benchmarks):
        with in_field("benchmarks", index):
            benchmark = load_benchmark(spec, seed=plan.seed, folder=context.folder, data=context.data)
        yield spec, benchmark


def _pinned(spec: BenchmarkSpec, benchmark: Benchmark) -> BenchmarkSpec:
    """The same with the commits of what was read from a hub."""
    if not benchmark.revisions:
        return spec
    return spec.model_copy(update={"revisions": dict(benchmark.revisions)})


def _prices(
    plan: Plan, models: Sequence[tuple[ModelSpec, Model]], context: PlanContext
) -> list[Price | None]:  # fmt: skip
    prices = [price_of(model, plan.limits, context) for _, model in models]
    if not plan.batch:
        return prices
    from proctor.batches.execute import batch_price

    return [batch_price(price) for price in prices]


def _evaluation(
    plan: Plan, model_spec: ModelSpec, model: Model, price: Price | None, benchmark_spec: BenchmarkSpec, item: _Prepared
) -> Evaluation:
    return Evaluation(
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
        use_cache=plan.cache and is_cached(model),
        price=price,
    )


def price_of(model: Model, limits: Limits, context: PlanContext) -> Price | None:
    """What the model's tokens cost; None when nobody knows."""
    assumed = None if limits.assume_price is None else read_assumed(limits.assume_price)
    return find_price(model.identity, context.prices, assumed, context.lists)


def _prepare(
    index: int,
    spec: BenchmarkSpec,
    benchmark: Benchmark,
    plan: Plan,
    context: PlanContext,
    judges: JudgeRegistry,
    database: Database | None,
) -> _Prepared:
    scorers = judges.give(create_scorers(benchmark.scorers, context.folder))
    if database is not None:
        scorers = give_opponents(scorers, benchmark.name, database)
    # A rule that may stop early needs a random order.
    every = proven(benchmark.samples, scorers)
    with in_field("benchmarks", index, kind=FilterError):
        samples = select(every, spec.where, spec.limit, plan.seed, is_shuffled=plan.until is not None)
    with _in_planned_prompt(index, spec):
        fingerprint = samples.fingerprint()
    _ = benchmark.renderer.digest  # worked examples are read for it: by now, every source has been
    if fingerprint.count == 0:
        raise BenchmarkError(f"{benchmark.name} has no samples.")
    return _Prepared(benchmark, samples, fingerprint, scorers)


@contextmanager
def _in_planned_prompt(index: int, spec: BenchmarkSpec) -> Iterator[None]:
    """Says of a sample that cannot be put into the words of the plan's own prompt where these are."""
    try:
        yield
    except BenchmarkError as error:
        if "prompt" in spec.parameters and any(part in str(error) for part in ("prompt.user: ", "prompt.system: ")):
            with in_field("benchmarks", index):
                raise BenchmarkError(str(error), setting="prompt") from error
        raise


async def close_models(evaluations: list[Evaluation]) -> None:
    """Let go of every connection; a model of several evaluations is closed once."""
    models: dict[int, Model] = {id(evaluation.model): evaluation.model for evaluation in evaluations}
    judges = judges_of(scorer for evaluation in evaluations for scorer in evaluation.scorers)
    for model in models.values():
        await model.close()
    for judge in judges:
        await judge.close()
