"""Results of promptfoo (`promptfoo eval -o results.json`): each provider with each prompt."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import orjson

from proctor.domain.message import Message, Prompt
from proctor.domain.response import Response, Usage
from proctor.domain.sample import Sample
from proctor.domain.score import Score
from proctor.runs.imports.log import Log, LogError, LogEvaluation, LogFields, LogTrial, moment, plain, score_of

TOOL = "promptfoo"
PASS, SCORE = "pass", "score"
ERROR = 2
"""The `failureReason` of a test whose request failed."""


def is_promptfoo(document: object) -> bool:
    """Whether the document looks like its results."""
    return isinstance(document, dict) and isinstance(document.get("results"), dict) and "evalId" in document


def read_promptfoo(path: Path, document: Any) -> Log:
    """Read a whole file: an evaluation for each provider with each prompt, a sample for each test."""
    fields = LogFields(document, str(path))
    name = fields.part("config").maybe_text("description") or path.stem
    rows: dict[tuple[str, str], dict[tuple[str, int], LogTrial]] = {}
    for result in fields.part("results").parts("results"):
        provider = result.part("provider")
        model = provider.maybe_text("label") or provider.text("id")
        prompt = result.part("prompt")
        label = prompt.maybe_text("label") or prompt.text("raw")
        trials = rows.setdefault((model, label), {})
        epoch = 0
        identity = str(result.count("testIdx") if result.count("testIdx") is not None else len(trials))
        while (identity, epoch) in trials:  # --repeat
            epoch += 1
        trials[identity, epoch] = _trial(result, identity, epoch)
    if not rows:
        raise LogError(f"{path} holds no results: nothing was evaluated.")
    labels = list(dict.fromkeys(label for _, label in rows))
    evaluations = tuple(
        LogEvaluation(
            model=model,
            benchmark=name if len(labels) == 1 else f"{name} (prompt {labels.index(label) + 1})",
            version="1",
            scorers=(PASS, SCORE),
            trials=tuple(trials.values()),
            options={},
            seconds=sum(one.response.latency_seconds or 0.0 for one in trials.values() if one.response is not None),
        )
        for (model, label), trials in rows.items()
    )
    version = fields.part("metadata").maybe_text("promptfooVersion") or "unknown"
    return Log(TOOL, version, moment(fields.part("results").maybe_text("timestamp")), evaluations)


def _trial(result: LogFields, identity: str, epoch: int) -> LogTrial:
    case, answered = result.part("testCase"), result.part("response")
    asked = result.part("prompt").maybe_text("raw") or ""
    variables = result.part("vars").value
    sample = Sample(
        id=identity,
        input=case.maybe_text("description") or orjson.dumps(plain(variables)).decode(),
        category=case.part("metadata").maybe_text("category"),
        metadata={"vars": plain(variables), "assert": plain(case.value.get("assert"))},
    )
    prompt = Prompt((Message("user", asked),))
    failed = result.value.get("failureReason") == ERROR or "output" not in answered.value
    if failed:
        error = answered.maybe_text("error") or result.maybe_text("error") or "promptfoo gives no output"
        return LogTrial(sample, epoch, prompt, None, error, ())
    return LogTrial(sample, epoch, prompt, _response(result, answered), None, _scores(result))


def _response(result: LogFields, answered: LogFields) -> Response:
    output, usage = answered.value.get("output"), answered.part("tokenUsage")
    cost, latency = result.number("cost"), result.number("latencyMs")
    return Response(
        text=output if isinstance(output, str) else orjson.dumps(plain(output)).decode(),
        usage=Usage(usage.count("prompt"), usage.count("completion")),
        latency_seconds=None if latency is None else latency / 1000,
        cost_usd=None if not cost else Decimal(str(cost)),  # promptfoo writes 0 for what it does not know
    )


def _scores(result: LogFields) -> tuple[Score, ...]:
    grading = result.part("gradingResult")
    reason = grading.maybe_text("reason") or ""
    parts = [
        f"{one.part('assertion').maybe_text('type') or 'assertion'}: {one.maybe_text('reason') or ''}"
        for one in grading.parts("componentResults")
    ]
    passed = result.value.get("success")
    return (
        score_of(PASS, passed if isinstance(passed, bool) else None, reason=" | ".join(parts) or reason),
        score_of(SCORE, result.value.get("score"), reason=reason),
    )
