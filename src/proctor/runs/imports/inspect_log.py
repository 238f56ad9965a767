"""Logs of Inspect (`.eval`, or `.json`): one model on one task."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from proctor.domain.message import Message, Prompt
from proctor.domain.response import FinishReason, Response, Usage
from proctor.domain.sample import Sample
from proctor.domain.score import Score
from proctor.runs.imports.log import (
    Log,
    LogError,
    LogEvaluation,
    LogFields,
    LogTrial,
    moment,
    plain,
    read_json,
    score_of,
)
from proctor.runs.imports.zstandard_zip import Archive

TOOL = "inspect"
LETTERS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
"""What Inspect's own metrics take its letters for: correct, incorrect, partial, no answer."""
NO_ANSWER = "N"
WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
FINISHES = {
    "stop": FinishReason.STOP,
    "max_tokens": FinishReason.LENGTH,
    "model_length": FinishReason.LENGTH,
    "content_filter": FinishReason.FILTERED,
    "tool_calls": FinishReason.TOOL_CALLS,
}
_ATTACHMENT = re.compile(r"attachment://([0-9a-f]{32})")


def read_inspect(path: Path) -> Log:
    """Read a whole log; raises LogError for what is none, and for one that holds no samples."""
    head, samples = _archived(path) if path.suffix == ".eval" else _plain_log(path)
    asked = head.part("eval")
    trials = tuple(_trial(one) for one in samples)
    if not trials:
        raise LogError(f"{path} holds no samples: Inspect was told not to log them, or none was finished.")
    names = dict.fromkeys(score.name for trial in trials for score in trial.scores)
    declared = [one.text("name") for one in asked.parts("scorers")]
    evaluation = LogEvaluation(
        model=asked.text("model"),
        benchmark=asked.text("task"),
        version=str(asked.value.get("task_version", "0")),
        scorers=tuple(sorted(names, key=lambda name: declared.index(name) if name in declared else len(declared))),
        trials=trials,
        options={name: plain(value) for name, value in asked.part("model_generate_config").value.items()},
        seconds=sum(one.response.latency_seconds or 0.0 for one in trials if one.response is not None),
    )
    version = asked.part("packages").maybe_text("inspect_ai") or "unknown"
    return Log(TOOL, version, moment(asked.maybe_text("created")), (evaluation,))


def _archived(path: Path) -> tuple[LogFields, list[LogFields]]:
    with Archive(path) as archive:

        def read(name: str) -> LogFields:
            return LogFields(read_json(archive.read(name), f"{path}: {name}"), f"{path}: {name}")

        names = [name for name in archive.names() if name.startswith("samples/") and name.endswith(".json")]
        return read("header.json"), [read(name) for name in names]


def _plain_log(path: Path) -> tuple[LogFields, list[LogFields]]:
    head = LogFields(read_json(path.read_bytes(), str(path)), str(path))
    return head, list(head.parts("samples"))


def _trial(given: LogFields) -> LogTrial:
    fields = LogFields(_attached(given.value, given.part("attachments").value), given.where)
    identity, epoch = fields.value.get("id"), fields.count("epoch") or 1
    if not isinstance(identity, str | int):
        raise LogError(f"{fields.where} has no 'id', as a sample of Inspect has.")
    sample = Sample(
        id=str(identity),
        input=_input(fields),
        target=_target(fields.value.get("target")),
        choices=tuple(str(one) for one in fields.items("choices")),
        category=fields.part("metadata").maybe_text("category"),
        metadata={name: plain(value) for name, value in fields.part("metadata").value.items()},
    )
    error = fields.part("error").maybe_text("message")
    response = None if error is not None else _response(fields)
    scores = tuple(_scores(fields)) if response is not None else ()
    return LogTrial(sample, epoch - 1, Prompt(_messages(fields, sample)), response, error, scores)


def _attached(value: Any, attachments: Mapping[str, Any]) -> Any:
    """What stands for a text that is kept once at the end of the sample is that text."""
    if isinstance(value, str):
        found = _ATTACHMENT.fullmatch(value)
        return value if found is None else attachments.get(found[1], value)
    if isinstance(value, list):
        return [_attached(one, attachments) for one in value]
    if isinstance(value, dict):
        skipped = ("attachments", "events", "timelines", "events_data")
        return {name: one if name in skipped else _attached(one, attachments) for name, one in value.items()}
    return value


def _input(fields: LogFields) -> str | tuple[Message, ...]:
    given = fields.value.get("input")
    if isinstance(given, str):
        return given
    return tuple(_message(one) for one in fields.parts("input"))


def _target(value: object) -> str | tuple[str, ...] | None:
    if isinstance(value, list):
        return tuple(str(one) for one in value) or None
    return str(value) if value not in (None, "") else None


def _messages(fields: LogFields, sample: Sample) -> tuple[Message, ...]:
    """What was put: everything before the model's first answer."""
    put: list[Message] = []
    for one in fields.parts("messages"):
        if one.maybe_text("role") == "assistant":
            break
        put.append(_message(one))
    return tuple(put) or (Message("user", sample.input_text),)


def _message(fields: LogFields) -> Message:
    role = fields.maybe_text("role") or "user"
    return Message(role if role in ("system", "user", "assistant") else "user", _content(fields))  # type: ignore[arg-type]


def _content(fields: LogFields) -> str:
    given = fields.value.get("content")
    if isinstance(given, str):
        return given
    parts = list(fields.parts("content"))
    return "\n\n".join(one.maybe_text("text") or f"[{one.maybe_text('type') or 'part'}]" for one in parts)


def _response(fields: LogFields) -> Response:
    output = fields.part("output")
    choices = list(output.parts("choices"))
    text = output.maybe_text("completion") or (_content(choices[0].part("message")) if choices else "")
    stop = choices[0].maybe_text("stop_reason") if choices else None
    usage = output.part("usage")
    return Response(
        text=text,
        finish_reason=FINISHES.get(stop or "", FinishReason.OTHER),
        usage=Usage(
            usage.count("input_tokens"),
            usage.count("output_tokens"),
            usage.count("reasoning_tokens"),
            usage.count("input_tokens_cache_read"),
            usage.count("input_tokens_cache_write"),
        ),
        model=output.maybe_text("model"),
        latency_seconds=fields.number("working_time") or output.number("time"),
    )


def _scores(fields: LogFields) -> Iterator[Score]:
    for name, given in fields.part("scores").value.items():
        one = LogFields(given, f"{fields.where}: scores.{name}")
        value, reason, answer = one.value.get("value"), one.maybe_text("explanation") or "", one.maybe_text("answer")
        if isinstance(value, Mapping):
            for part, inner in value.items():
                yield _score(f"{name}.{part}", inner, reason, answer)
        else:
            yield _score(name, value, reason, answer)


def _score(name: str, value: object, reason: str, answer: str | None) -> Score:
    if value == NO_ANSWER:
        return Score(name, 0.0, answer=answer, reason=reason, details={"imported": NO_ANSWER}, is_invalid=True)
    if isinstance(value, str):
        number = LETTERS.get(value, WORDS.get(value.lower()))
        if number is not None:
            return Score(name, number, answer=answer, reason=reason, details={"imported": value})
    return score_of(name, value, reason, answer=answer)
