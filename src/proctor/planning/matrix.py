"""A plan that varies something becomes one that lists every combination, before anything is looked up or paid for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

from proctor.domain.errors import PlanError, in_field
from proctor.domain.fields import InvalidValueError
from proctor.domain.matrix import BenchmarkMatrix, Matrix, ModelMatrix, PromptText
from proctor.domain.plan import BenchmarkSpec, ModelSpec, Plan
from proctor.yaml_document import as_mapping, explain, load_yaml

MAX_EVALUATIONS = 1_000
"""A matrix multiplies: more than this is rather a mistake than a plan."""
Axes = Mapping[str, tuple[Any, ...]]


def expand_matrix(plan: Plan, folder: Path) -> Plan:
    """The same plan with each combination listed, in the order of the values; a plan that varies nothing as it is.

    What a model or a benchmark says of itself wins over the plan's matrix. Prompt files are read from `folder`.
    """
    parts: list[Plan | ModelSpec | BenchmarkSpec] = [plan, *plan.models, *plan.benchmarks]
    if all(part.matrix is None for part in parts):
        return plan
    axes = plan.axes()
    counts = [sum(_size(_axes_of(item, axes)) for item in items) for items in (plan.models, plan.benchmarks)]
    if counts[0] * counts[1] > MAX_EVALUATIONS:
        with in_field("matrix"):
            raise PlanError(
                f"{counts[0]:,} models with their settings and {counts[1]:,} benchmarks with theirs make "
                f"{counts[0] * counts[1]:,} evaluations; at most {MAX_EVALUATIONS:,} can be made of one plan."
            )
    changes = {
        "models": [one for spec in plan.models for one in expand_model(spec, axes)],
        "benchmarks": _expand_benchmarks(plan, axes, folder),
    }
    try:
        return Plan.model_validate({**plan.model_dump(exclude={"matrix"}), **changes})
    except InvalidValueError as error:
        with in_field("matrix"):
            raise PlanError(f"{error.errors[0]['msg'].removeprefix('Value error, ')}.") from None


def entry_of(plan: Plan, field: tuple[str | int, ...], setting: str = "") -> tuple[str | int, ...]:
    """A field of the plan as it was written, for one of the plan that `expand_matrix` makes of it.

    A mistake about a setting that a matrix varies is in the matrix, at the value that was tried.
    """
    kind, position = (*field, None, None)[:2]
    if kind not in ("models", "benchmarks") or not isinstance(position, int):
        return field
    specs: tuple[ModelSpec | BenchmarkSpec, ...] = plan.models if kind == "models" else plan.benchmarks
    axes = plan.axes()
    for index, spec in enumerate(specs):
        mine = _axes_of(spec, axes)
        size = _size(mine)
        if position < size:
            if setting not in mine:
                return (kind, index, *field[2:])
            inside = (kind, index) if setting in spec.axes() else ()
            return (*inside, "matrix", setting, _place_of(setting, mine, position))
        position -= size
    return field


def _place_of(setting: str, axes: Axes, position: int) -> int:
    """Which of its values a setting has in a combination; the last one varies first."""
    later = list(axes)[list(axes).index(setting) + 1 :]
    return position // _size({name: axes[name] for name in later}) % len(axes[setting])


def with_axes(plan: Plan, axes: Mapping[str, Any]) -> Plan:
    """The plan with these varied, instead of what it, its models and its benchmarks say of them."""
    if not axes:
        return plan
    models = [_without(spec.model_dump(), "sampling", axes) for spec in plan.models]
    benchmarks = [_without(spec.model_dump(), "parameters", axes) for spec in plan.benchmarks]
    values = _without(plan.model_dump(), "sampling", axes)
    matrix = {**(values.get("matrix") or {}), **axes}
    return Plan.model_validate({**values, "models": models, "benchmarks": benchmarks, "matrix": matrix})


def _without(values: dict[str, Any], part: str, names: Mapping[str, Any]) -> dict[str, Any]:
    """What is said of something, without what it says of these names itself, in a part or in its matrix."""

    def left(inner: Mapping[str, Any] | None) -> dict[str, Any]:
        return {key: value for key, value in (inner or {}).items() if key not in names}

    changed = {**left(values), part: left(values[part])}
    return changed if changed.get("matrix") is None else {**changed, "matrix": left(changed["matrix"])}


def expand_model(spec: ModelSpec, axes: Axes) -> Iterator[ModelSpec]:
    """One model for each combination of what is varied of it; a label of its own tells which."""
    mine = _axes_of(spec, axes)
    for values in _combinations(mine):
        label = None if spec.label is None else f"{spec.label}{_suffix(values)}"
        sampling = spec.sampling.model_copy(update=values)
        yield spec.model_copy(update={"label": label, "sampling": sampling, "matrix": None})


def _expand_benchmarks(plan: Plan, axes: Axes, folder: Path) -> list[BenchmarkSpec]:
    """One benchmark for each combination of what is varied of it."""
    found: list[BenchmarkSpec] = []
    for spec in plan.benchmarks:
        for values in _combinations(_axes_of(spec, axes)):
            with in_field("benchmarks", len(found)):
                found.append(_vary(spec, values, folder))
    return found


def _vary(spec: BenchmarkSpec, values: dict[str, Any], folder: Path) -> BenchmarkSpec:
    shots = values.pop("shots", spec.shots)
    if "prompt" in values:
        values["prompt"] = _read_prompt(values["prompt"], folder).model_dump(exclude_none=True)
    return spec.model_copy(update={"shots": shots, "parameters": {**spec.parameters, **values}, "matrix": None})


def _axes_of(spec: ModelSpec | BenchmarkSpec, axes: Axes) -> Axes:
    is_model = isinstance(spec, ModelSpec)
    kind: type[Matrix | ModelMatrix | BenchmarkMatrix] = ModelMatrix if is_model else BenchmarkMatrix
    given = spec.sampling.given() if isinstance(spec, ModelSpec) else spec.given()
    shared = {name: values for name, values in axes.items() if name in kind.__struct_fields__ and name not in given}
    return {**shared, **spec.axes()}


def _size(axes: Axes) -> int:
    size = 1
    for values in axes.values():
        size *= len(values)
    return size


def _combinations(axes: Axes) -> Iterator[dict[str, Any]]:
    return (dict(zip(axes, values, strict=True)) for values in product(*axes.values()))


def _suffix(values: Mapping[str, Any]) -> str:
    return f"?{'&'.join(f'{name}={value}' for name, value in values.items())}" if values else ""


def _read_prompt(given: str | PromptText, folder: Path) -> PromptText:
    if isinstance(given, PromptText):
        return given
    path = folder / given
    try:
        document = load_yaml(path, name=given, error=PlanError)
        return PromptText.model_validate({"name": path.stem, **as_mapping(document, "a prompt file")})
    except InvalidValueError as error:
        raise PlanError(explain(error, document, PromptText), setting="prompt") from None
    except PlanError as error:
        raise PlanError(str(error), setting="prompt") from error
