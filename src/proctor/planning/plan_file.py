"""Plans as people write them: a YAML file, flags, or both."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pydantic

from proctor.domain.errors import PlanError
from proctor.domain.plan import BenchmarkSpec, Limits, ModelSpec, Plan
from proctor.domain.yaml_document import LocatedDocument, as_mapping, explain, load_yaml

PLAN_KEYS = frozenset({"models", "benchmarks"})


def is_plan(document: LocatedDocument) -> bool:
    """A plan names models or benchmarks; a benchmark file names a dataset."""
    value = document.value
    return isinstance(value, Mapping) and bool(PLAN_KEYS & set(value)) and "dataset" not in value


def read_plan(path: Path, overrides: Mapping[str, Any] | None = None) -> Plan:
    """A plan from a file; flags given beside it win over what the file says."""
    document = load_yaml(path, error=PlanError)
    values = _merged(as_mapping(document, "a plan"), overrides or {})
    try:
        return Plan.model_validate(values)
    except pydantic.ValidationError as error:
        raise PlanError(explain(error, document, Plan)) from None


def plan_from(values: Mapping[str, Any]) -> Plan:
    """A plan from flags or from a program."""
    try:
        return Plan.model_validate(values)
    except pydantic.ValidationError as error:
        raise PlanError(_first_message(error)) from None


def benchmark_spec(text: str) -> BenchmarkSpec:
    """A benchmark as written on the command line."""
    try:
        return BenchmarkSpec.model_validate(text)
    except pydantic.ValidationError as error:
        raise PlanError(_first_message(error)) from None


def model_spec(text: str) -> ModelSpec:
    """A model as written on the command line."""
    try:
        return ModelSpec.model_validate(text)
    except pydantic.ValidationError as error:
        raise PlanError(_first_message(error)) from None


def _first_message(error: pydantic.ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    place = ".".join(str(step) for step in first["loc"])
    message = first["msg"].removeprefix("Value error, ")
    return f"{place}: {message}" if place else message


def _merged(values: Mapping[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(values)
    for key, value in overrides.items():
        if isinstance(value, Mapping) and isinstance(merged.get(key), Mapping):
            merged[key] = {**merged[key], **value}
        else:
            merged[key] = value
    return merged


def limits_with(plan: Plan, changes: Mapping[str, Any]) -> Limits:
    """The plan's limits with some of them changed."""
    values = {**plan.limits.model_dump(), **changes}
    return plan_from({**plan.model_dump(), "limits": values}).limits
