"""Keeps a log as a run whose models are all called `imported/…`: whoever reads it sees where it is from."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path

from msgspec import Struct

from proctor.domain.benchmark import Benchmark, Fingerprint, ScorerSpec
from proctor.domain.documents.document import json_bytes
from proctor.domain.documents.imported import ImportedEvaluation, ImportedRun
from proctor.domain.errors import ModelUnavailableError
from proctor.domain.evaluation import Evaluation
from proctor.domain.identity import TrialIds, digest
from proctor.domain.message import Json, Message, Prompt
from proctor.domain.model import ModelIdentity
from proctor.domain.plan import BenchmarkSpec, ModelSpec, Plan
from proctor.domain.response import Response
from proctor.domain.run import IMPORTED, RunStatus
from proctor.domain.sample import Sample
from proctor.domain.score import Score
from proctor.domain.trial import Answer, Result, Trial, outcome_of
from proctor.runs.asking import numbered, versions_of
from proctor.runs.imports.log import Log, LogError, LogEvaluation, LogTrial
from proctor.runs.packing import pack_run
from proctor.stores.codec import sample_body
from proctor.stores.database import Database
from proctor.stores.events import find_event
from proctor.stores.journal import DatabaseJournal
from proctor.stores.runs import RunStore

AT_ONCE = 500


class ImportedModel(Struct, frozen=True):
    """Answered elsewhere; it cannot be asked here."""

    identity: ModelIdentity

    async def respond(self, prompt: Prompt, options: Mapping[str, Json], *, timeout_seconds: float) -> Response:  # noqa: ARG002
        raise ModelUnavailableError(f"{self.identity.name} was imported: it cannot be asked from here.")

    async def close(self) -> None:
        """Nothing is open."""


class ImportedScorer(Struct, frozen=True):
    """Scored elsewhere."""

    name: str
    version: str

    async def score(self, sample: Sample, response: Response) -> Score:  # noqa: ARG002
        return Score.unscored(self.name, "scored by another tool: it cannot be asked from here")


class ImportedSamples(Struct, frozen=True):
    items: tuple[Sample, ...]

    def __iter__(self) -> Iterator[Sample]:
        return iter(self.items)

    def at(self, positions: Sequence[int]) -> Iterator[Sample]:
        return (self.items[position] for position in positions)

    def fingerprint(self) -> Fingerprint:
        rows = sorted((one.id, one.input_text, str(one.target), sample_body(one)) for one in self.items)
        return Fingerprint(digest(["imported", rows]), len(self.items))


class ImportedPrompts(Struct, frozen=True):
    digest: str

    def render(self, sample: Sample) -> Prompt:
        return Prompt((Message("user", sample.input_text),))


def keep_log(database: Database, log: Log, path: Path, name: str | None) -> ImportedRun:
    """Write the log as a run that is completed; one that was imported before is named instead."""
    key = _content_key(log)
    if (earlier := find_event(database, IMPORTED, key)) is not None:
        return _document(database, earlier, log, is_new=False)
    evaluations = [_evaluation(one, log) for one in log.evaluations]
    for one in log.evaluations:
        _refuse_twice(one, path)
    plan = Plan.model_validate(
        {
            "name": name or f"{log.tool}: {path.name}",
            "models": tuple({str(one.model_spec): one.model_spec for one in evaluations}.values()),
            "benchmarks": tuple({str(one.benchmark_spec): one.benchmark_spec for one in evaluations}.values()),
            "cache": False,
        }
    )
    store = RunStore(database)
    run_id = store.create(plan, evaluations, path.absolute().parent)
    lease = store.lease(run_id)
    kept = numbered(evaluations, store.evaluation_rows(run_id))
    journal = DatabaseJournal(database, versions_of(kept), store.get(run_id).month, lease=lease)
    try:
        asyncio.run(_write(journal, list(zip(kept, log.evaluations, strict=True))))
    except BaseException:
        store.finish(lease, RunStatus.FAILED, 0.0, error="the import was interrupted")
        raise
    store.add_event(run_id, IMPORTED, {"log": key, "tool": log.tool, "file": path.name, "made_at": log.made_at})
    store.finish(lease, RunStatus.COMPLETED, sum(one.seconds for one in log.evaluations))
    pack_run(database, run_id)
    return _document(database, run_id, log, is_new=True)


async def _write(journal: DatabaseJournal, parts: Sequence[tuple[Evaluation, LogEvaluation]]) -> None:
    try:
        for evaluation, given in parts:
            ids = TrialIds(evaluation.model.identity, evaluation.benchmark_identity, evaluation.options)
            for start in range(0, len(given.trials), AT_ONCE):
                trials = given.trials[start : start + AT_ONCE]
                written = await journal.write([_answer(one, evaluation, ids) for one in trials], [])
                answered = list(zip(written.answers, trials, strict=True))
                await journal.write([], [_result(answer, one) for answer, one in answered if one.response is not None])
    finally:
        await journal.close()


def _answer(given: LogTrial, evaluation: Evaluation, ids: TrialIds) -> Answer:
    trial = Trial(
        id=ids.of(given.sample.id, given.epoch),
        evaluation_id=evaluation.id,
        sample=given.sample,
        epoch=given.epoch,
        prompt=given.prompt,
        options=evaluation.options,
        cache_key=None,  # what another tool recorded is no answer of ours
    )
    return Answer(trial, given.response, None if given.response is not None else given.error or "unknown")


def _result(answer: Answer, given: LogTrial) -> Result:
    return Result(answer, given.scores, outcome_of(answer.response, given.scores))


def _evaluation(given: LogEvaluation, log: Log) -> Evaluation:
    samples = ImportedSamples(tuple({one.sample.id: one.sample for one in given.trials}.values()))
    spec = ModelSpec(
        provider=IMPORTED,
        name=given.model,
        settings={"tool": log.tool, "tool_version": log.tool_version},
    )
    prompts = sorted((one.sample.id, one.epoch, digest(["prompt", one.prompt])) for one in given.trials)
    version = f"{log.tool} {log.tool_version}"
    return Evaluation(
        label=spec.short,
        model_spec=spec,
        benchmark_spec=BenchmarkSpec.model_validate({"benchmark": given.benchmark}),
        model=ImportedModel(ModelIdentity(IMPORTED, given.model, log.tool, log.tool_version)),
        benchmark=Benchmark(
            name=given.benchmark,
            samples=samples,
            renderer=ImportedPrompts(digest(["imported prompts", prompts])),
            scorers=tuple(ScorerSpec(name) for name in given.scorers),
            version=given.version,
            tags={IMPORTED: log.tool},
        ),
        samples=samples,
        fingerprint=samples.fingerprint(),
        scorers=tuple(ImportedScorer(name, version) for name in given.scorers),
        options=given.options,
        epochs=max((one.epoch for one in given.trials), default=0) + 1,
        use_cache=False,
    )


def _refuse_twice(given: LogEvaluation, path: Path) -> None:
    seen: set[tuple[str, int]] = set()
    for one in given.trials:
        if (one.sample.id, one.epoch) in seen:
            raise LogError(f"{path}: the sample {one.sample.id!r} of {given.benchmark} is there twice.")
        seen.add((one.sample.id, one.epoch))


def _content_key(log: Log) -> str:
    """Equal for equal logs, wherever they lie."""
    try:
        return blake2b(json_bytes(log), digest_size=12).hexdigest()
    except TypeError as error:  # nested too deeply, for one
        raise LogError(f"The log cannot be kept: {error}.") from None


def _document(database: Database, run_id: str, log: Log, *, is_new: bool) -> ImportedRun:
    run = RunStore(database).get(run_id)
    return ImportedRun(
        run_id=run.id,
        name=run.name,
        tool=log.tool,
        tool_version=log.tool_version,
        is_new=is_new,
        evaluations=[
            ImportedEvaluation(
                model=f"{IMPORTED}/{one.model}",
                benchmark=one.benchmark,
                samples=len({trial.sample.id for trial in one.trials}),
                trials=len(one.trials),
                failed=sum(trial.response is None for trial in one.trials),
                scorers=one.scorers,
            )
            for one in log.evaluations
        ],
    )
