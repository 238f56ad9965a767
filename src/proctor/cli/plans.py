"""From what was typed to a plan, and from a mistake back to the place where it was written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from proctor.benchmarks.registry import INSPECT, LM_EVAL, split_version
from proctor.domain.errors import NotFoundError, PlanError, UserError, did_you_mean
from proctor.domain.matrix import BenchmarkMatrix, Matrix
from proctor.domain.plan import BenchmarkSpec, Plan
from proctor.models.registry import named_hosts
from proctor.planning.matrix import entry_of, with_axes
from proctor.planning.plan_file import MINIMAL, is_plan, plan_from, plan_in, with_selection
from proctor.yaml_document import LocatedDocument, load_yaml

T = TypeVar("T", BenchmarkMatrix, Matrix)
YAML_ENDINGS = (".yaml", ".yml")


class GivenPlan(Struct, frozen=True):
    """A plan, and the file it came from where there is one."""

    plan: Plan
    document: LocatedDocument | None = None
    overridden: frozenset[str] = frozenset()
    """Parts of the file that flags have replaced."""

    @contextmanager
    def located(self) -> Iterator[None]:
        """A mistake that shows only when names are looked up gets the line of the plan it comes from."""
        try:
            yield
        except UserError as error:
            field = entry_of(self.plan, error.field, error.setting)
            if self.document is None or not field or self._is_overridden(field):
                raise
            line, path = self.document.line_of(field), self.document.path_of(field)
            raise type(error)(f"{self.document.name}:{line}: {path}: {error}") from error

    def _is_overridden(self, field: tuple[str | int, ...]) -> bool:
        """Whether flags have replaced this field: a part of the plan, or a part of each of its benchmarks."""
        return not self.overridden.isdisjoint((*field[:1], *field[2:3]))


def read_targets(targets: Sequence[str], models: Sequence[str], values: dict[str, Any]) -> GivenPlan:
    """The plan that a command names: a plan file with flags over it, or benchmarks and models."""
    is_judge_named = "judge" in values
    given = _read_targets(targets, models, values)
    named = [*(given.plan.models if models else ()), *(given.plan.judge if is_judge_named else ())]
    return replace(given, plan=given.plan.model_copy(update={"key_hosts": named_hosts(named)}))


def _read_targets(targets: Sequence[str], models: Sequence[str], values: dict[str, Any]) -> GivenPlan:
    if models:
        values["models"] = list(models)
    for target in targets:
        document = _document(target)
        if document is not None and is_plan(document):
            if len(targets) > 1:
                raise PlanError(f"{target} is a plan, and a plan is run alone: list the benchmarks inside it.")
            return _from_file(Path(target), document, values)
    if not models:
        raise PlanError("No model given. Name one with -m, for example -m demo/strong; 'proctor models' lists them.")
    spec = values.pop("benchmark", {})
    return GivenPlan(plan_from({**values, "benchmarks": [{"benchmark": target, **spec} for target in targets]}))


def _from_file(path: Path, document: LocatedDocument, values: dict[str, Any]) -> GivenPlan:
    spec, axes = values.pop("benchmark", {}), values.pop("matrix", {})
    plan_from({**MINIMAL, "matrix": axes or None})  # a flag's mistake is not the file's
    plan = with_axes(with_selection(_beside(path.parent, plan_in(document, values)), spec), axes)
    return GivenPlan(plan, document, frozenset({*values, *spec, *(["matrix"] if axes else [])}))


def _document(target: str) -> LocatedDocument | None:
    """The YAML file a target names; None when it names none."""
    if not target.lower().endswith(YAML_ENDINGS) or "://" in target or target.startswith(LM_EVAL):
        return None
    path = Path(target)
    if not path.is_file():
        near = [other.name for other in path.parent.glob("*.y*ml")] if path.parent.is_dir() else []
        raise NotFoundError(f"There is no file {target}.{did_you_mean(path.name, near)}")
    return load_yaml(path, error=PlanError)


def _beside(folder: Path, plan: Plan) -> Plan:
    """Benchmark files are looked for beside the plan that names them, then in the working folder; prompts beside it."""

    def found(spec: BenchmarkSpec) -> BenchmarkSpec:
        if spec.benchmark.startswith(INSPECT):
            file, mark, task = spec.benchmark.removeprefix(INSPECT).rpartition("@")
            is_beside = bool(mark) and (folder / file).is_file()
            return spec.model_copy(update={"benchmark": f"{INSPECT}{folder / file}@{task}"}) if is_beside else spec
        scheme = LM_EVAL if spec.benchmark.startswith(LM_EVAL) else ""
        path = folder / spec.benchmark.removeprefix(scheme)
        name, _ = split_version(str(path), folder)
        is_file = name.lower().endswith(YAML_ENDINGS) and Path(name).is_file()
        return spec.model_copy(update={"benchmark": f"{scheme}{path}"}) if is_file else spec

    def moved(matrix: T | None) -> T | None:
        if matrix is None or matrix.prompt is None:
            return matrix
        prompts = tuple(str(folder / one) if isinstance(one, str) else one for one in matrix.prompt)
        return matrix.model_copy(update={"prompt": prompts})

    benchmarks = [spec.model_copy(update={"matrix": moved(spec.matrix)}) for spec in map(found, plan.benchmarks)]
    return plan.model_copy(update={"benchmarks": tuple(benchmarks), "matrix": moved(plan.matrix)})
