"""Gives judging scorers what they need: judges behind limits, retries and a cache, and answers to compare with."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from msgspec.structs import replace

from proctor.domain.errors import JudgeRefusedError, PlanError, RequestRejectedError, ScorerError, did_you_mean
from proctor.domain.event import Observer
from proctor.domain.identity import CacheKeys
from proctor.domain.message import Json, Prompt
from proctor.domain.model import Model, ModelIdentity, is_cached
from proctor.domain.plan import Limits, ModelSpec
from proctor.domain.price import REPORTED, Price
from proctor.domain.response import Response
from proctor.domain.sample import Sample
from proctor.domain.scorer import Scorer
from proctor.domain.trial import Trial
from proctor.engine.budget import Budget
from proctor.engine.model_gate import ModelGate
from proctor.engine.ratelimit import RateLimits, RunRateLimits
from proctor.models.cost_limit import refuse_unenforceable
from proctor.models.registry import create_model
from proctor.scorers.judging.judge import FindOpponent, Judge, NeedsJudges, NeedsOpponents, Opinion, Opposition
from proctor.stores.answer_cache import AnswerCache
from proctor.stores.database import Database
from proctor.stores.runs import RunStore

UNREADABLE_RETRIES = 2
"""How often a judge is asked again for a verdict that can be read; never more often than the plan's retries."""


def _ignore(_: object) -> None:
    return


class AskedJudge:
    """A judge model with the same limits, retries and cache keys as any other model, but a gate of its own."""

    def __init__(
        self, label: str, model: Model, options: Mapping[str, Json], limits: Limits, price: Price | None = None
    ) -> None:
        self.label = label
        self.options = options
        self.price = price
        self._model = model
        self._limits = limits
        self._keys = CacheKeys(model.identity, options)
        self._cache: AnswerCache | None = None
        self.failures = 0
        self.last_failure: str | None = None
        self._gate = self._make_gate(asyncio.Event(), _ignore, None)

    @property
    def identity(self) -> ModelIdentity:
        return self._model.identity

    @property
    def model(self) -> Model:
        return self._model

    @property
    def is_cached(self) -> bool:
        return is_cached(self._model)

    @property
    def given_up(self) -> str | None:
        """Why this judge is asked no more; None while it is."""
        return self._gate.given_up

    def attach(
        self,
        cache: AnswerCache | None,
        stopping: asyncio.Event,
        observe: Observer,
        budget: Budget | None,
        rates: RunRateLimits,
    ) -> None:
        """Work for this execution: use its cache and its money, stop when it stops, tell its observers of faults."""
        self._cache = cache if self.is_cached else None
        self._gate = self._make_gate(stopping, observe, budget, rates)

    async def ask(self, prompt: Prompt, is_readable: Callable[[Response], bool]) -> tuple[Opinion, ...]:
        """Every reply to a request, the last one readable where the limits allowed it; only that one is cached."""
        key = self._keys.of(prompt, (), 0)
        if self._cache is not None and (known := await self._cache.find(key)) is not None and is_readable(known):
            return (Opinion(known, is_cached=True),)
        opinions: list[Opinion] = []
        for _ in range(1 + min(self._limits.retries, UNREADABLE_RETRIES)):
            response = await self._request(key, prompt, is_first=not opinions)
            if response is None:
                break
            opinions.append(Opinion(response))
            if is_readable(response):
                if self._cache is not None:
                    await self._cache.keep(key, response)
                break
        return tuple(opinions)

    async def _request(self, key: str, prompt: Prompt, *, is_first: bool) -> Response | None:
        """One reply; without any, raises ScorerError the first time and gives None where there was one before."""
        answer = await self._gate.ask(Trial(key, 0, Sample("judge", ""), 0, prompt, self.options, key))
        if answer is None or answer.response is None:
            if not is_first:
                return None
            self.failures += 1
            self.last_failure = (answer.error if answer is not None else self.given_up) or "the work was stopped"
            is_refused = self.last_failure.startswith(f"{RequestRejectedError.__name__}: ")
            kind = JudgeRefusedError if is_refused else ScorerError
            raise kind(f"The judge {self.label} gave no reply: {self.last_failure}")
        response = answer.response
        if response.cost_usd is not None and response.cost_basis is None:
            response = replace(response, cost_basis=REPORTED if self.price is None else self.price.basis)
        return response

    async def close(self) -> None:
        await self._model.close()

    def _make_gate(
        self, stopping: asyncio.Event, observe: Observer, budget: Budget | None, rates: RunRateLimits | None = None
    ) -> ModelGate:
        return ModelGate(
            self._model,
            f"judge {self.label}",
            concurrency=self._limits.concurrency,
            retries=self._limits.retries,
            timeout_seconds=self._limits.timeout_seconds,
            stopping=stopping,
            observe=observe,
            price=self.price,
            budget=budget,
            rate=None if rates is None else rates.of(self._model),
            breaker=None if rates is None else rates.breaker_of(self._model),
        )


class JudgeRegistry:
    """The judges that a plan names; each is made once, when the first scorer asks for judges."""

    def __init__(
        self,
        specs: Sequence[ModelSpec],
        limits: Limits,
        *,
        environment: Mapping[str, str],
        folder: Path,
        price_of: Callable[[Model], Price | None] = lambda _: None,
    ) -> None:
        self._specs = specs
        self._limits = limits
        self._environment = environment
        self._folder = folder
        self._price_of = price_of
        self._judges: tuple[AskedJudge, ...] = ()

    def give(self, scorers: Iterable[Scorer]) -> tuple[Scorer, ...]:
        """The same scorers, with judges where they need some; raises PlanError when there are none."""
        return tuple(self._give(scorer) for scorer in scorers)

    def _give(self, scorer: Scorer) -> Scorer:
        if not isinstance(scorer, NeedsJudges):
            return scorer
        if not self._specs:
            raise PlanError(
                f"The scorer '{scorer.name}' asks a judge, and none is named. "
                "Name one with --judge MODEL, or as 'judge' in the plan."
            )
        if not self._judges:
            self._judges = tuple(self._make(spec) for spec in self._specs)
        judges: tuple[Judge, ...] = self._judges
        return scorer.with_judges(judges)

    def _make(self, spec: ModelSpec) -> AskedJudge:
        model = create_model(spec, environment=self._environment, folder=self._folder)
        twins = [other for other in self._specs if other.short == spec.short]
        label = spec.short if len(twins) == 1 else str(spec)
        options, price = spec.sampling.given(), self._price_of(model)
        if self._limits.cost_usd is not None:
            refuse_unenforceable(f"the judge {label}", model, price, options)
        return AskedJudge(label, model, options, self._limits, price)


def judges_of(scorers: Iterable[Scorer]) -> list[AskedJudge]:
    """The judges that these scorers ask, each once."""
    found = {
        id(judge): judge
        for scorer in scorers
        if isinstance(scorer, NeedsJudges)
        for judge in scorer.judges
        if isinstance(judge, AskedJudge)
    }
    return list(found.values())


@asynccontextmanager
async def judging(
    scorers: Iterable[Scorer],
    database: Database,
    stopping: asyncio.Event,
    observe: Observer,
    *,
    use_cache: bool,
    budget: Budget | None = None,
    rates: RunRateLimits | None = None,
) -> AsyncIterator[list[AskedJudge]]:
    """The judges of these scorers, ready to be asked; nothing is opened where there are none."""
    judges = judges_of(scorers)
    cache = AnswerCache(database) if judges and use_cache else None
    try:
        for judge in judges:
            judge.attach(cache, stopping, observe, budget, rates or RateLimits())
        yield judges
    finally:
        if cache is not None:
            await cache.close()


def lost(judges: Iterable[AskedJudge]) -> dict[str, str]:
    """The judges that were given up, and why."""
    return {f"judge {judge.label}": judge.given_up for judge in judges if judge.given_up is not None}


def faults_of(judges: Iterable[AskedJudge]) -> dict[str, str]:
    """The judges that left any request without a reply, how often, and the last reason."""
    return {
        f"judge {judge.label}": f"{judge.failures:,} without a reply; the last: {judge.last_failure}"
        for judge in judges
        if judge.failures
    }


def give_opponents(scorers: Iterable[Scorer], benchmark: str, database: Database) -> tuple[Scorer, ...]:
    """The same scorers, with the answers of the runs that they compare with."""
    return tuple(_with_opponents(scorer, benchmark, database) for scorer in scorers)


def _with_opponents(scorer: Scorer, benchmark: str, database: Database) -> Scorer:
    if not isinstance(scorer, NeedsOpponents) or scorer.opposition is None:
        return scorer
    run_id, row = _opposing(scorer.opposition, benchmark, database)
    return scorer.with_opponents(_finder(database, row["id"]), f"{run_id}/{row['model']}/{row['digest']}")


def _opposing(opposition: Opposition, benchmark: str, database: Database) -> tuple[str, Mapping[str, Json]]:
    store = RunStore(database)
    run = store.get(opposition.run)
    rows = [row for row in store.evaluation_rows(run.id) if row["benchmark"] == benchmark]
    if not rows:
        raise PlanError(f"Run {run.id} has no answers to {benchmark}, so there is nothing to compare with.")
    models = [row["model"] for row in rows]
    if opposition.model is None and len(rows) > 1:
        raise PlanError(f"Run {run.id} has several models: name one with the option 'model' ({', '.join(models)}).")
    for row in rows:
        if opposition.model in (None, row["model"]):
            return run.id, row
    hint = did_you_mean(str(opposition.model), models)
    raise PlanError(f"Run {run.id} has no model {opposition.model!r}.{hint} It has: {', '.join(models)}.")


def _finder(database: Database, evaluation_id: int) -> FindOpponent:
    from proctor.stores.scores import SampleAnswers

    answers = SampleAnswers(database, evaluation_id)

    async def find(sample: Sample) -> str | None:
        return await asyncio.to_thread(answers.find, sample)

    return find
