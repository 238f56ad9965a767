"""Task files of the Language Model Evaluation Harness: read, and refused by name where they cannot be honoured."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from proctor.domain.errors import BenchmarkError, NotFoundError
from proctor.yaml_document import as_mapping, explain_value, load_yaml

_FUNCTION = re.compile(r"^([ \t-]*(?:[\"']?[\w-]+[\"']?:)?[ \t]*)!function[ \t]+([\w.]+)", re.MULTILINE)
_MAX_INCLUDES = 10
WITHOUT_EFFECT = frozenset(
    {"tag", "group", "task_alias", "should_decontaminate", "doc_to_decontamination_query", "training_split", "include"}
)
"""Keys that say nothing about what is asked and how it is marked."""


class _Open(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=())


def _as_text(value: object) -> object:
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


class FilterStep(_Open):
    function: Literal["regex", "take_first", "remove_whitespace", "lowercase", "uppercase", "map"]
    regex_pattern: str | None = None
    group_select: int | None = None
    fallback: str | None = None
    mapping_dict: dict[str, str] | None = None
    default_value: str | None = None


class Pipeline(_Open):
    name: str = "none"
    filter: list[FilterStep] = [FilterStep(function="take_first")]


class MetricEntry(_Open):
    metric: str
    aggregation: Literal["mean"] = "mean"
    higher_is_better: Literal[True] = True
    ignore_case: bool = False
    ignore_punctuation: bool = False
    ignore_numbers: bool = False
    regexes_to_ignore: list[str] = []


class Generation(_Open):
    until: Annotated[list[str], BeforeValidator(lambda v: [v] if isinstance(v, str) else v)] | None = None
    max_gen_toks: int | None = Field(None, ge=1)
    do_sample: bool = False
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None


class FewShot(_Open):
    sampler: Literal["default", "first_n"] = "default"
    samples: list[dict[str, Any]] | None = None
    split: str | None = None


class DatasetArguments(_Open):
    data_files: str | list[str] | dict[str, str | list[str]] | None = None
    revision: str | None = None
    trust_remote_code: bool = False


class TaskFile(_Open):
    """The keys that are honoured."""

    task: str = Field(min_length=1)
    dataset_path: str
    dataset_name: str | None = None
    dataset_kwargs: DatasetArguments | None = None
    output_type: Literal["generate_until", "multiple_choice"] = "generate_until"
    training_split: str | None = None
    validation_split: str | None = None
    test_split: str | None = None
    fewshot_split: str | None = None
    doc_to_text: str
    doc_to_target: Annotated[str, BeforeValidator(_as_text)]
    doc_to_choice: str | list[str] | None = None
    description: str = ""
    num_fewshot: int | None = Field(None, ge=0)
    fewshot_config: FewShot | None = None
    target_delimiter: str = " "
    fewshot_delimiter: str = "\n\n"
    generation_kwargs: Generation | None = None
    filter_list: list[Pipeline] | None = None
    metric_list: list[MetricEntry] | None = None
    repeats: Literal[1] = 1
    metadata: dict[str, Any] = {}


KNOWN_METRICS = {"generate_until": ("exact_match",), "multiple_choice": ("acc", "acc_norm")}


def read_task(path: Path, label: str, without: frozenset[str] = frozenset()) -> TaskFile:
    """A task file with what it includes; raises BenchmarkError naming the first thing that cannot be honoured."""
    values = _merged(path, label, 0)
    unused = without - values.keys() - {str(entry.get("metric")) for entry in _entries(values) if entry}
    if unused:
        raise BenchmarkError(f"{label} has no {min(unused)!r} to leave out.")
    kept = {key: value for key, value in values.items() if key not in without and key not in WITHOUT_EFFECT}
    if "training_split" in values:
        kept["training_split"] = values["training_split"]
    _refuse_functions(kept, label)
    output = kept.get("output_type", "generate_until")
    if output not in KNOWN_METRICS:
        raise BenchmarkError(f"{label}: output_type {output!r} cannot be honoured; {' and '.join(KNOWN_METRICS)} can.")
    if _entries(kept):
        kept["metric_list"] = [
            _metric(entry, output, label) for entry in _entries(kept) if entry["metric"] not in without
        ]
    unknown = [key for key in kept if key not in TaskFile.model_fields]
    if unknown:
        raise BenchmarkError(
            f"{label}: the key {unknown[0]!r} cannot be honoured. If the task means the same without it, leave it out"
            f" with ?without={unknown[0]}."
        )
    try:
        return TaskFile.model_validate(kept)
    except ValidationError as mistake:
        raise BenchmarkError(f"{label}: this cannot be honoured: {explain_value(mistake, TaskFile)}") from mistake


def _entries(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    listed = values.get("metric_list")
    return [entry for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []


def _metric(entry: dict[str, Any], output: str, label: str) -> dict[str, Any]:
    name, known = entry.get("metric"), KNOWN_METRICS[output]
    if name not in known:
        raise BenchmarkError(
            f"{label}: the metric {name!r} cannot be honoured for {output}; {' and '.join(known)} can. Leave it out"
            f" with ?without={name}."
        )
    return entry


def _merged(path: Path, label: str, depth: int) -> dict[str, Any]:
    if depth > _MAX_INCLUDES:
        raise BenchmarkError(f"{label}: more than {_MAX_INCLUDES} files include one another.")
    if not path.is_file():
        raise NotFoundError(f"There is no task file {label}.")
    values = dict(as_mapping(load_yaml(_without_functions(path), name=label, error=BenchmarkError), "a task file"))
    if isinstance(values.get("task"), list):
        raise BenchmarkError(f"{label} is a group of tasks; name one of its tasks' files.")
    included = values.get("include")
    below = _merged(path.parent / str(included), str(included), depth + 1) if included else {}
    return {**below, **values}


def _without_functions(path: Path) -> str:
    """The text with Python functions as marked texts: they are refused by name once it is known that they matter."""
    return _FUNCTION.sub(r'\1"!function \2"', path.read_text("utf-8"))


def _refuse_functions(value: Any, label: str, where: str = "") -> None:
    if isinstance(value, str) and value.startswith("!function "):
        name = value.removeprefix("!function ")
        raise BenchmarkError(f"{label}: {where} is the Python function {name}, which cannot be honoured.")
    if isinstance(value, Mapping):
        for key, inner in value.items():
            _refuse_functions(inner, label, f"{where}.{key}" if where else str(key))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            _refuse_functions(inner, label, f"{where}[{place}]")
