"""A log of Inspect (JSON), which its viewer and its reader take: one model on one benchmark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from tempfile import SpooledTemporaryFile
from typing import IO, Literal

from msgspec import UNSET, Struct, UnsetType

from proctor.domain.documents.document import json_bytes
from proctor.domain.documents.result import ResultScore, TrialResult
from proctor.domain.errors import UserError
from proctor.domain.message import Json
from proctor.domain.run import RunStatus
from proctor.domain.trial import Outcome
from proctor.reports.rows import RunRows
from proctor.version import __version__

LOG_VERSION = 2
MAX_IDS_BYTES, PIECE_BYTES = 2**20, 2**16
"""Of the ids of the samples; more of them are in a file until they are written."""
NO_IDS = b'"sample_ids":[]'
INVALID = "N"
"""Inspect's letter for an answer in which none could be read; it counts as 0."""
FINISHES = {"stop": "stop", "length": "max_tokens", "filtered": "content_filter", "tool_calls": "tool_calls"}
BEGINNING = "1970-01-01T00:00:00+00:00"
"""Inspect wants a time; this one where nobody knows which."""
STATUSES = {RunStatus.COMPLETED: "success", RunStatus.CANCELLED: "cancelled", RunStatus.FAILED: "error"}


class InspectDataset(Struct, frozen=True):
    name: str
    samples: int
    sample_ids: list[str]


class InspectEval(Struct, frozen=True):
    """What was asked."""

    created: str
    task: str
    dataset: InspectDataset
    model: str
    config: dict[str, int]
    packages: dict[str, str]
    metadata: dict[str, str]
    tags: list[str]


class InspectPlan(Struct, frozen=True):
    name: str = "plan"
    steps: tuple[()] = ()
    config: dict[str, Json] = {}


class InspectStats(Struct, frozen=True):
    started_at: str
    completed_at: str
    model_usage: dict[str, Json] = {}


class InspectHead(Struct, frozen=True):
    """All of a log but its samples."""

    version: int
    status: str
    eval: InspectEval
    plan: InspectPlan
    stats: InspectStats


class InspectMessage(Struct, frozen=True):
    role: str
    content: str
    source: Literal["input", "generate"]
    model: str | UnsetType = UNSET


class InspectChoice(Struct, frozen=True):
    message: InspectMessage
    stop_reason: str


class InspectUsage(Struct, frozen=True):
    input_tokens: int
    output_tokens: int
    total_tokens: int


class InspectOutput(Struct, frozen=True):
    model: str
    choices: list[InspectChoice]
    usage: InspectUsage | UnsetType = UNSET
    time: float | UnsetType = UNSET


class InspectError(Struct, frozen=True):
    message: str
    traceback: str
    traceback_ansi: str


class InspectScore(Struct, frozen=True):
    value: float | str
    explanation: str | None
    answer: str | UnsetType = UNSET
    metadata: dict[str, Json] = {}


class InspectSample(Struct, frozen=True):
    """A trial as Inspect has it."""

    id: str
    epoch: int
    input: str
    target: str | list[str]
    messages: list[InspectMessage]
    output: InspectOutput
    metadata: dict[str, str]
    store: dict[str, Json] = {}
    events: tuple[()] = ()
    attachments: dict[str, Json] = {}
    choices: list[str] | UnsetType = UNSET
    error: InspectError | UnsetType = UNSET
    scores: dict[str, InspectScore] | UnsetType = UNSET
    total_time: float | UnsetType = UNSET


def export_inspect(rows: RunRows) -> Iterator[bytes]:
    """The log, sample by sample; reads twice, because what is evaluated comes first, and keeps nothing in memory."""
    with SpooledTemporaryFile(max_size=MAX_IDS_BYTES) as ids:
        yield from _export(rows, ids)


def _export(rows: RunRows, ids: IO[bytes]) -> Iterator[bytes]:
    evaluations: dict[tuple[str, str], int] = {}
    """How many samples each has."""
    epochs = 0
    for row in rows:
        name = (row.side or row.model, row.benchmark)
        count = evaluations.setdefault(name, 0)
        epochs = max(epochs, row.epoch + 1)
        if row.epoch == 0:
            ids.write((b"," if count else b"") + json_bytes(row.sample_id))
            evaluations[name] += 1
    if len(evaluations) > 1:
        found = ", ".join(f"{model} on {benchmark}" for model, benchmark in evaluations)
        raise UserError(
            f"A log of Inspect holds one model on one benchmark, and run {rows.run_id} has {len(evaluations)}: {found}."
            " Name one with --model and --benchmark."
        )
    (model, benchmark), samples = next(iter(evaluations.items()), (("none/none", "none"), 0))
    before, after = json_bytes(_head(rows, model, benchmark, samples, epochs)).split(NO_IDS, 1)
    yield before + NO_IDS[:-1]
    ids.seek(0)
    while piece := ids.read(PIECE_BYTES):
        yield piece
    yield NO_IDS[-1:] + after[:-1] + b',"samples":['
    comma = b""
    for row in rows:
        yield comma + json_bytes(_sample(row))
        comma = b","
    yield b"]}\n"


def _head(rows: RunRows, model: str, benchmark: str, samples: int, epochs: int) -> InspectHead:
    """Without the ids of the samples, which may be many."""
    run = rows.course
    created = BEGINNING if run is None else run.created_at.isoformat()
    began = created if run is None or run.started_at is None else run.started_at.isoformat()
    ended = began if run is None or run.finished_at is None else run.finished_at.isoformat()
    asked = InspectEval(
        created=created,
        task=benchmark,
        dataset=InspectDataset(benchmark, samples, []),
        model=model,
        config={"epochs": max(epochs, 1)},
        packages={"proctor": __version__},
        metadata={"proctor_run": rows.run_id},
        tags=["proctor"],
    )
    status = "success" if run is None else STATUSES.get(run.status, "started")
    return InspectHead(LOG_VERSION, status, asked, InspectPlan(), InspectStats(began, ended))


def _sample(row: TrialResult) -> InspectSample:
    has_failed = row.outcome is Outcome.FAILED
    said = row.error or "no scorer could measure the answer"
    marks = {name: made for name, score in row.scores.items() if (made := _score(score)) is not None}
    return InspectSample(
        id=row.sample_id,
        epoch=row.epoch + 1,
        input=row.input,
        target=row.target or "",
        messages=_messages(row),
        output=_output(row),
        metadata={} if row.category is None else {"category": row.category},
        choices=[str(one) for one in row.choices] if isinstance(row.choices, list) else UNSET,
        error=InspectError(said, said, said) if has_failed else UNSET,
        scores=UNSET if has_failed else marks,
        total_time=_or_unset(row.latency_seconds),
    )


def _or_unset(seconds: float | None) -> float | UnsetType:
    return UNSET if seconds is None else seconds


def _messages(row: TrialResult) -> list[InspectMessage]:
    asked = [InspectMessage("user", row.input, "input")]
    if isinstance(row.prompt, Mapping) and isinstance(row.prompt.get("messages"), list):
        # Where --with prompt asked for it, the prompt as it was sent; pictures and files stay out.
        asked = [
            InspectMessage(one["role"], one["content"], "input")
            for one in row.prompt["messages"]
            if isinstance(one.get("content"), str) and one.get("role") in ("system", "user", "assistant")
        ]
    return asked if row.response is None else [*asked, _answer(row)]


def _answer(row: TrialResult) -> InspectMessage:
    return InspectMessage("assistant", row.response or "", "generate", row.model)


def _output(row: TrialResult) -> InspectOutput:
    if row.response is None:
        return InspectOutput(row.model, [])
    given, taken = row.usage.input_tokens, row.usage.output_tokens
    return InspectOutput(
        row.model,
        [InspectChoice(_answer(row), FINISHES.get(row.finish_reason or "", "unknown"))],
        usage=UNSET if given is None or taken is None else InspectUsage(given, taken, given + taken),
        time=_or_unset(row.latency_seconds),
    )


def _score(score: ResultScore) -> InspectScore | None:
    """Nothing where nothing was measured: Inspect then has no score of this name either."""
    if score.value is None:
        return None
    details = {} if score.details is UNSET else {"details": score.details}
    return InspectScore(
        value=INVALID if score.invalid else score.value,
        explanation=score.reason,
        answer=UNSET if score.answer is None else score.answer,
        metadata={"version": score.version, **details},
    )
