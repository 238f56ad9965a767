"""Plans as people write them: a YAML file, flags, or both."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from proctor.domain.errors import PlanError
from proctor.domain.fields import Frozen, InvalidValueError
from proctor.domain.plan import BenchmarkSpec, Limits, ModelSpec, Plan
from proctor.yaml_document import LocatedDocument, as_mapping, explain, explain_value, load_yaml

T = TypeVar("T", bound=Frozen)
BENCHMARK_KEYS = frozenset({"dataset", "scorers", "prompt"})
MINIMAL = {"models": ["demo/strong"], "benchmarks": ["puzzles"]}
"""What a plan cannot do without; stands in while flags are checked on their own."""


def is_plan(document: LocatedDocument) -> bool:
    """A benchmark file names data or scorers; anything else is meant as a plan."""
    return not isinstance(document.value, Mapping) or not BENCHMARK_KEYS & set(document.value)


def read_plan(path: Path, overrides: Mapping[str, Any] | None = None) -> Plan:
    """A plan from a file; flags given beside it win over what the file says."""
    return plan_in(load_yaml(path, error=PlanError), overrides)


def plan_in(document: LocatedDocument, overrides: Mapping[str, Any] | None = None) -> Plan:
    """The plan a document holds; a mistake is shown with its file, line and field."""
    values = as_mapping(document, "a plan")
    if "key_hosts" in values:
        where = f"{document.name}:{document.line_of(['key_hosts'])}"
        raise PlanError(f"{where}: a file cannot say where keys may go; set PROCTOR_KEY_HOSTS in the environment.")
    if overrides:
        plan_from({**MINIMAL, **overrides})  # a flag's mistake is not the file's
        values = _merged(values, overrides)
    try:
        return Plan.model_validate(values)
    except InvalidValueError as error:
        raise PlanError(explain(error, document, Plan)) from None


def with_selection(plan: Plan, selection: Mapping[str, Any]) -> Plan:
    """What is said of all benchmarks beside a plan (limit, where, shots) wins over what the plan says of each."""
    if not selection:
        return plan
    chosen = [{**item.model_dump(exclude_defaults=True), **selection} for item in plan.benchmarks]
    return plan_from({**plan.model_dump(), "benchmarks": chosen})


def plan_from(values: Mapping[str, Any]) -> Plan:
    """A plan from flags or from a program."""
    return _validated(Plan, values)


def benchmark_spec(text: str) -> BenchmarkSpec:
    """A benchmark as written on the command line."""
    return _validated(BenchmarkSpec, text)


def model_spec(written: str | Mapping[str, Any]) -> ModelSpec:
    """A model as written on the command line, or as a mapping in a plan."""
    return _validated(ModelSpec, written)


def _validated(kind: type[T], value: object) -> T:
    try:
        return kind.model_validate(value)
    except InvalidValueError as error:
        raise PlanError(explain_value(error, kind)) from None


def _merged(values: Mapping[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(values)
    for key, value in overrides.items():
        if isinstance(value, Mapping) and isinstance(merged.get(key), Mapping):
            merged[key] = {**merged[key], **value}
        else:
            merged[key] = value
    return merged


def refuse_unusable_limit(field: str, value: object, *, name: str) -> None:
    """A limit's mistake, told by the name under which whoever gave it knows it."""
    try:
        Limits.model_validate({field: value})
    except InvalidValueError as error:
        raise PlanError(f"{name}: {explain_value(error, Limits).removeprefix(f'{field}: ')}") from None


def limits_with(plan: Plan, changes: Mapping[str, Any]) -> Limits:
    """The plan's limits with some of them changed."""
    values = {**plan.limits.model_dump(), **changes}
    return plan_from({**plan.model_dump(), "limits": values}).limits
