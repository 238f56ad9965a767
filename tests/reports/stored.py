"""Runs written straight into a real database, with marks chosen by the test."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from engine.parts import ScriptedModel
from proctor.domain.benchmark import Benchmark, Fingerprint, ScorerSpec
from proctor.domain.evaluation import Evaluation
from proctor.domain.plan import BenchmarkSpec, ModelSpec, Plan
from proctor.domain.response import Response, Usage
from proctor.domain.run import RunStatus
from proctor.domain.sample import Sample
from proctor.domain.score import Score
from proctor.domain.trial import Answer, Outcome, Result, Trial, outcome_of
from proctor.stores.database import Database
from proctor.stores.journal import DatabaseJournal
from proctor.stores.runs import RunStore
from stores.parts import ListedSamples, PlainRenderer, this_month

FAILED = "failed"
INVALID = "invalid"
UNREADABLE = "unreadable"
"""The judge answered, and its verdict could not be read."""
NOT_ASKED = "not asked"
Marks = Mapping[str, "float | str | Sequence[float | str]"]


@dataclass(frozen=True)
class FixedScorer:
    name: str = "fixed"
    version: str = "1"

    async def score(self, sample: Sample, response: Response) -> Score:
        raise NotImplementedError("tests give the marks")


class OtherRenderer(PlainRenderer):
    def __init__(self, digest: str) -> None:
        self.digest = digest


@dataclass(frozen=True)
class Told:
    """One evaluation as a test tells it: a mark, or a list of marks by epoch, for each sample."""

    marks: Marks
    model: str = "demo/a"
    benchmark: str = "listed"
    version: str = "1"
    content: str = "f" * 32
    prompts: str = "plain"
    shots: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    tags: Mapping[str, str] = field(default_factory=dict)
    scorers: tuple[FixedScorer, ...] = (FixedScorer(),)
    text: str = "an answer"
    error: str = "the server said 503"
    cost_usd: Decimal | None = None
    seconds: float = 0.25
    groups: Mapping[str, str] = field(default_factory=dict)
    categories: Mapping[str, str] = field(default_factory=dict)
    covers: Mapping[str, float] = field(default_factory=dict)
    """How much of the weights a sample's mark covers."""
    metrics: tuple[str, ...] = ("accuracy",)
    targets: Mapping[str, str] = field(default_factory=dict)
    answers: Mapping[str, str] = field(default_factory=dict)
    """What was read out of a sample's responses; yes or no where it is not said."""
    details: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """What the scores of a sample say beside the mark."""
    metadata: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    rewritten: tuple[str, ...] = ()
    """Samples whose question says something else."""

    def epochs_of(self, sample_id: str) -> list[float | str]:
        given = self.marks[sample_id]
        return [given] if isinstance(given, float | int | str) else list(given)

    @property
    def epochs(self) -> int:
        return max((len(self.epochs_of(name)) for name in self.marks), default=1)

    def sample(self, name: str) -> Sample:
        return Sample(
            name,
            f"{'another ' if name in self.rewritten else ''}question {name}",
            target=self.targets.get(name, "yes"),
            category=self.categories.get(name),
            group=self.groups.get(name),
            metadata=self.metadata.get(name, {}),
        )


def record(
    database: Database,
    folder: Path,
    *told: Told,
    status: RunStatus = RunStatus.COMPLETED,
    until: str | None = None,
) -> str:
    """Write one run with these evaluations; gives its id."""
    store = RunStore(database)
    evaluations = [_evaluation(one) for one in told]
    plan = Plan.model_validate(
        {
            "models": [{"model": name} for name in dict.fromkeys(one.model for one in told)],
            "benchmarks": list(dict.fromkeys(one.benchmark for one in told)),
            "until": until,
        }
    )
    run_id = store.create(plan, evaluations, folder)
    ids = [row["id"] for row in store.evaluation_rows(run_id)]
    versions = {
        number: {scorer.name: scorer.version for scorer in one.scorers} for number, one in zip(ids, told, strict=True)
    }
    lease = store.lease(run_id)
    asyncio.run(_write(database, versions, list(zip(ids, told, strict=True))))
    store.finish(lease, status, 1.5)
    return run_id


async def _write(database: Database, versions: dict[int, dict[str, str]], told: list[tuple[int, Told]]) -> None:
    journal = DatabaseJournal(database, versions, this_month())
    try:
        for number, one in told:
            for name in one.marks:
                for epoch, mark in enumerate(one.epochs_of(name)):
                    if mark != NOT_ASKED:
                        await _write_one(journal, _trial(one, number, name, epoch), one, mark)
    finally:
        await journal.close()


async def _write_one(journal: DatabaseJournal, trial: Trial, told: Told, mark: float | str) -> None:
    answer = Answer(trial, None, error=told.error) if mark == FAILED else Answer(trial, _response(told))
    [kept] = (await journal.write([answer], [])).answers
    if answer.response is None:
        return
    name = trial.sample.id
    details = {**({"covers": told.covers[name]} if name in told.covers else {}), **told.details.get(name, {})}
    scores = tuple(_score(scorer.name, mark, told.answers.get(name), details) for scorer in told.scorers)
    result = Result(replace(answer, response_id=kept.response_id), scores, outcome_of(answer.response, scores))
    assert (result.outcome is Outcome.FAILED) == (mark == UNREADABLE)
    await journal.write([], [result])


def _score(scorer: str, mark: float | str, answer: str | None, details: Mapping[str, Any]) -> Score:
    if mark == UNREADABLE:
        return Score(scorer, None, reason="the verdict could not be read", details={"verdict": "unreadable"})
    if isinstance(mark, str):
        return Score.invalid(scorer, "nothing could be read")
    return Score(scorer, float(mark), answer or ("yes" if mark >= 0.5 else "no"), "as the test says", details)


def _response(told: Told) -> Response:
    return Response(told.text, usage=Usage(10, 5), latency_seconds=told.seconds, cost_usd=told.cost_usd)


def _trial(told: Told, evaluation_id: int, name: str, epoch: int) -> Trial:
    sample = told.sample(name)
    return Trial(f"{name}-{epoch}", evaluation_id, sample, epoch, PlainRenderer().render(sample), told.options, None)


def _evaluation(told: Told) -> Evaluation:
    samples = ListedSamples(tuple(told.sample(name) for name in told.marks))
    specs = tuple(ScorerSpec(scorer.name) for scorer in told.scorers)
    return Evaluation(
        label=told.model,
        model_spec=ModelSpec.model_validate(told.model),
        benchmark_spec=BenchmarkSpec.model_validate({"benchmark": told.benchmark, "shots": told.shots}),
        model=ScriptedModel(),
        benchmark=Benchmark(
            told.benchmark, samples, OtherRenderer(told.prompts), specs, told.metrics, told.version, tags=told.tags
        ),
        samples=samples,
        fingerprint=Fingerprint(told.content, len(samples.items)),
        scorers=told.scorers,
        options=told.options,
        epochs=told.epochs,
    )
