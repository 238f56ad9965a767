"""A log of Inspect (JSON), which its viewer and its reader take: one model on one benchmark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import orjson
from msgspec import UNSET

from proctor.domain.documents.result import ResultScore, TrialResult
from proctor.domain.errors import UserError
from proctor.domain.run import RunStatus
from proctor.domain.trial import Outcome
from proctor.reports.rows import RunRows
from proctor.version import __version__

LOG_VERSION = 2
INVALID = "N"
"""Inspect's letter for an answer in which none could be read; it counts as 0."""
FINISHES = {"stop": "stop", "length": "max_tokens", "filtered": "content_filter", "tool_calls": "tool_calls"}
BEGINNING = "1970-01-01T00:00:00+00:00"
"""Inspect wants a time; this one where nobody knows which."""
STATUSES = {RunStatus.COMPLETED: "success", RunStatus.CANCELLED: "cancelled", RunStatus.FAILED: "error"}


def export_inspect(rows: RunRows) -> Iterator[bytes]:
    """The log, sample by sample; reads twice, because what is evaluated comes first, and keeps only ids."""
    evaluations: dict[tuple[str, str], list[str]] = {}
    epochs = 0
    for row in rows:
        ids = evaluations.setdefault((row.model, row.benchmark), [])
        epochs = max(epochs, row.epoch + 1)
        if row.epoch == 0:
            ids.append(row.sample_id)
    if len(evaluations) > 1:
        found = ", ".join(f"{model} on {benchmark}" for model, benchmark in evaluations)
        raise UserError(
            f"A log of Inspect holds one model on one benchmark, and run {rows.run_id} has {len(evaluations)}: {found}."
            " Name one with --model and --benchmark."
        )
    (model, benchmark), ids = next(iter(evaluations.items()), (("none/none", "none"), []))
    head = orjson.dumps(_head(rows, model, benchmark, ids, epochs))
    yield head[:-1] + b',"samples":['
    comma = b""
    for row in rows:
        yield comma + orjson.dumps(_sample(row))
        comma = b","
    yield b"]}\n"


def _head(rows: RunRows, model: str, benchmark: str, ids: list[str], epochs: int) -> dict[str, Any]:
    run = rows.course
    created = BEGINNING if run is None else run.created_at.isoformat()
    began = created if run is None or run.started_at is None else run.started_at.isoformat()
    ended = began if run is None or run.finished_at is None else run.finished_at.isoformat()
    status = "success" if run is None else STATUSES.get(run.status, "started")
    asked = {
        "created": created,
        "task": benchmark,
        "dataset": {"name": benchmark, "samples": len(ids), "sample_ids": ids},
        "model": model,
        "config": {"epochs": max(epochs, 1)},
        "packages": {"proctor": __version__},
        "metadata": {"proctor_run": rows.run_id},
        "tags": ["proctor"],
    }
    plan = {"name": "plan", "steps": [], "config": {}}
    stats = {"started_at": began, "completed_at": ended, "model_usage": {}}
    return {"version": LOG_VERSION, "status": status, "eval": asked, "plan": plan, "stats": stats}


def _sample(row: TrialResult) -> dict[str, Any]:
    found: dict[str, Any] = {
        "id": row.sample_id,
        "epoch": row.epoch + 1,
        "input": row.input,
        "target": row.target or "",
        "messages": _messages(row),
        "output": _output(row),
        "metadata": {"category": row.category} if row.category is not None else {},
        "store": {},
        "events": [],
        "attachments": {},
    }
    if isinstance(row.choices, list):
        found["choices"] = [str(one) for one in row.choices]
    if row.outcome is Outcome.FAILED:
        said = row.error or "no scorer could measure the answer"
        found["error"] = {"message": said, "traceback": said, "traceback_ansi": said}
    else:
        marks = {name: made for name, score in row.scores.items() if (made := _score(score)) is not None}
        found["scores"] = marks
    if row.latency_seconds is not None:
        found["total_time"] = row.latency_seconds
    return found


def _messages(row: TrialResult) -> list[dict[str, Any]]:
    asked = [{"role": "user", "content": row.input, "source": "input"}]
    if isinstance(row.prompt, Mapping) and isinstance(row.prompt.get("messages"), list):
        # Where --with prompt asked for it, the prompt as it was sent; pictures and files stay out.
        asked = [
            {"role": one["role"], "content": one["content"], "source": "input"}
            for one in row.prompt["messages"]
            if isinstance(one.get("content"), str) and one.get("role") in ("system", "user", "assistant")
        ]
    return asked if row.response is None else [*asked, _answer(row)]


def _answer(row: TrialResult) -> dict[str, Any]:
    return {"role": "assistant", "content": row.response or "", "source": "generate", "model": row.model}


def _output(row: TrialResult) -> dict[str, Any]:
    if row.response is None:
        return {"model": row.model, "choices": []}
    usage = row.usage
    made: dict[str, Any] = {
        "model": row.model,
        "choices": [{"message": _answer(row), "stop_reason": FINISHES.get(row.finish_reason or "", "unknown")}],
    }
    if usage.input_tokens is not None and usage.output_tokens is not None:
        counted = {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}
        made["usage"] = {**counted, "total_tokens": usage.input_tokens + usage.output_tokens}
    if row.latency_seconds is not None:
        made["time"] = row.latency_seconds
    return made


def _score(score: ResultScore) -> dict[str, Any] | None:
    """Nothing where nothing was measured: Inspect then has no score of this name either."""
    if score.value is None:
        return None
    made: dict[str, Any] = {"value": INVALID if score.invalid else score.value, "explanation": score.reason}
    if score.answer is not None:
        made["answer"] = score.answer
    details = {} if score.details is UNSET else {"details": score.details}
    return {**made, "metadata": {"version": score.version, **details}}
