"""Logs of lm-evaluation-harness (`--output_path --log_samples`): a results file and one of samples for each task."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from proctor.domain.message import Message, Prompt
from proctor.domain.response import Response
from proctor.domain.sample import Sample
from proctor.domain.score import Score
from proctor.runs.imports.log import Log, LogError, LogEvaluation, LogFields, LogTrial, plain, read_json, score_of

TOOL = "lm-eval"
SAMPLES = re.compile(r"samples_(?P<task>.+)_(?P<at>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?)\.jsonl")
RESULTS = re.compile(r"results_(?P<at>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?)\.json")
NO_FILTER = "none"


def is_lm_eval(path: Path) -> bool:
    return RESULTS.fullmatch(path.name) is not None or SAMPLES.fullmatch(path.name) is not None


def files_of(path: Path) -> tuple[Path, list[Path]]:
    """The results file, and the files of samples of the same moment; of a file of samples, only that one."""
    found = RESULTS.fullmatch(path.name) or SAMPLES.fullmatch(path.name)
    if found is None:
        raise LogError(f"{path} is no log of lm-eval: these are called results_….json and samples_….jsonl.")
    at, results = found["at"], path.with_name(f"results_{found['at']}.json")
    if not results.is_file():
        raise LogError(f"{results.name} is not beside {path}: it says which model was evaluated.")
    if path != results:
        return results, [path]
    samples = sorted(one for one in path.parent.glob("samples_*.jsonl") if _at(one) == at)
    if not samples:
        raise LogError(f"There are no samples beside {path}: run lm-eval with --log_samples.")
    return results, samples


def read_lm_eval(path: Path) -> Log:
    """Read the results and every file of samples beside it."""
    results, samples = files_of(path)
    head = LogFields(read_json(results.read_bytes(), str(results)), str(results))
    evaluations = tuple(_evaluation(head, one) for one in samples)
    return Log(TOOL, head.maybe_text("lm_eval_version") or "unknown", None, evaluations)


def _at(path: Path) -> str | None:
    found = SAMPLES.fullmatch(path.name)
    return None if found is None else found["at"]


def _evaluation(head: LogFields, path: Path) -> LogEvaluation:
    found = SAMPLES.fullmatch(path.name)
    assert found is not None  # noqa: S101 - files_of gives no other
    task = found["task"]
    better = head.part("higher_is_better").part(task).value
    rows: dict[str, list[LogFields]] = {}
    for row in _lines(path):
        identity = row.value.get("doc_id")
        if not isinstance(identity, str | int):
            raise LogError(f"{row.where} has no 'doc_id', as a sample of lm-eval has.")
        rows.setdefault(str(identity), []).append(row)
    trials = tuple(_trial(identity, given, better) for identity, given in rows.items())
    names = dict.fromkeys(score.name for trial in trials for score in trial.scores)
    config, shots = head.part("config"), head.part("n-shot").count(task)
    version = head.part("versions").value.get(task, "0")
    name = _model_name(head, config)
    return LogEvaluation(name, task, str(version), tuple(names), trials, {} if shots is None else {"shots": shots})


def _model_name(head: LogFields, config: LogFields) -> str:
    """`hf/name` where the arguments name one: harness and weights decide the answers together."""
    kind = config.maybe_text("model") or head.maybe_text("model_source") or "unknown"
    given = config.value.get("model_args")
    arguments = (
        dict(part.split("=", 1) for part in given.split(",") if "=" in part) if isinstance(given, str) else given
    )
    arguments = arguments if isinstance(arguments, dict) else {}
    named = arguments.get("pretrained") or arguments.get("model")
    return f"{kind}/{named}" if named else kind


def _lines(path: Path) -> Iterator[LogFields]:
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            where = f"{path}, line {number}"
            yield LogFields(read_json(line, where), where)


def _trial(identity: str, rows: list[LogFields], better: Any) -> LogTrial:
    """One document; each filter of its answers has a row of its own."""
    first = rows[0]
    document, arguments = first.part("doc").value, _arguments(first)
    sample = Sample(
        id=identity,
        input=arguments[0][0] if arguments else orjson.dumps(plain(document)).decode(),
        target=_text(first.value.get("target")),
        choices=tuple(text.strip() for _, text in arguments) if _is_choice(first) else (),
        metadata={"doc": plain(document)},
    )
    prompt = Prompt((Message("user", sample.input_text),))
    scores = tuple(score for row in rows for score in _scores(row, better))
    return LogTrial(sample, 0, prompt, Response(_answer(first, arguments)), None, scores)


def _arguments(row: LogFields) -> list[tuple[str, str]]:
    """The prompt and the continuation of each request; of one that writes an answer, the second is empty."""
    found: list[tuple[str, str]] = []
    for given in row.part("arguments").value.values():
        one = given if isinstance(given, dict) else {}
        second = one.get("arg_1")
        found.append((_text(one.get("arg_0")) or "", second if isinstance(second, str) else ""))
    return found


def _is_choice(row: LogFields) -> bool:
    return all(_likelihood(one) is not None for one in row.items("filtered_resps") or [None])


def _likelihood(answer: object) -> float | None:
    """The logarithm that a request for a likelihood was answered with; None for a text."""
    if not isinstance(answer, list) or len(answer) != 2:
        return None
    try:
        return float(answer[0])
    except (TypeError, ValueError):
        return None


def _answer(row: LogFields, arguments: list[tuple[str, str]]) -> str:
    """The text that was written; of choices, the likeliest as the model sees them."""
    if _is_choice(row):
        likelihoods = [_likelihood(one) or 0.0 for one in row.value["filtered_resps"]]
        best = max(range(len(likelihoods)), key=likelihoods.__getitem__)
        return arguments[best][1].strip() if best < len(arguments) else str(best)
    answers = row.items("resps") or [[""]]
    first = answers[0]
    return _text(first[0] if isinstance(first, list) and first else first) or ""


def _text(value: object) -> str | None:
    if value is None:
        return None
    return value if isinstance(value, str) else orjson.dumps(plain(value)).decode()


def _scores(row: LogFields, better: Any) -> Iterator[Score]:
    filtered = row.maybe_text("filter") or NO_FILTER
    for metric in map(str, row.items("metrics")):
        name = metric if filtered == NO_FILTER else f"{metric}@{filtered}"
        value = row.value.get(metric)
        if better.get(metric) is False:
            yield Score(name, None, reason="lower is better in lm-eval", details={"imported": plain(value)})
        else:
            yield score_of(name, value)
