"""From what was typed to a plan, and from a mistake back to the place where it was written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from proctor.benchmarks.registry import LM_EVAL, load_benchmark
from proctor.domain.errors import FilterError, NotFoundError, PlanError, UserError, did_you_mean
from proctor.domain.matrix import BenchmarkMatrix
from proctor.domain.plan import BenchmarkSpec, Plan
from proctor.models.registry import create_model, named_hosts
from proctor.planning.matrix import expand_benchmark, expand_matrix, with_axes
from proctor.planning.plan_file import LEAST, is_plan, plan_from, plan_in, with_selection
from proctor.reports.labels import all_labels
from proctor.scorers.registry import create_scorers
from proctor.yaml_document import LocatedDocument, load_yaml

if TYPE_CHECKING:
    from proctor.domain.benchmark import Benchmark
    from proctor.runs.resolve import PlanContext

T = TypeVar("T", bound=BenchmarkMatrix)
YAML_ENDINGS = (".yaml", ".yml")


class GivenPlan(Struct, frozen=True):
    """A plan, and the file it came from where there is one."""

    plan: Plan
    document: LocatedDocument | None = None
    overridden: frozenset[str] = frozenset()
    """Parts of the file that flags have replaced."""

    @contextmanager
    def located(self, context: PlanContext) -> Iterator[None]:
        """A mistake that shows only when names are looked up gets the line of the plan it comes from."""
        try:
            yield
        except UserError as error:
            place = self._place_of(error, context)
            if place is None or self.document is None:
                raise
            line, path = self.document.line_of(place), self.document.path_of(place)
            raise type(error)(f"{self.document.name}:{line}: {path}: {error}") from error

    def metrics(self, context: PlanContext) -> list[str]:
        """The names of everything this plan will measure; no data is read for it."""
        found: dict[str, None] = {}
        for spec in expand_matrix(self.plan, context.folder).benchmarks:
            benchmark = self._load(spec, context)
            scorers = create_scorers(benchmark.scorers, context.folder)
            found.update(dict.fromkeys(all_labels(scorers, benchmark.metrics, spec.epochs or self.plan.epochs)))
        return list(found)

    def _load(self, spec: BenchmarkSpec, context: PlanContext) -> Benchmark:
        return load_benchmark(spec, seed=self.plan.seed, folder=context.folder, data=context.data)

    def _place_of(self, error: UserError, context: PlanContext) -> tuple[str | int, ...] | None:
        """Which part of the plan says this when it is looked up alone."""
        if self.document is None:
            return None
        message = str(error)
        if isinstance(error, FilterError):
            return None if "where" in self.overridden else self._filter_place(message, context)
        if self.plan.until is not None and "until" not in self.overridden and _says(message, self._read_rule):
            return ("until",)
        environment = context.allowing(self.plan).environment
        make = partial(create_model, environment=environment, folder=context.folder)
        for index, model in enumerate(self.plan.models):
            if _says(message, partial(make, model)):
                return None if "models" in self.overridden else ("models", index)
        for index, spec in enumerate(self.plan.benchmarks):
            if _says(message, partial(self._load, spec, context)):
                return ("benchmarks", index)
            for one in expand_benchmark(spec, self.plan.axes(), context.folder):
                if _says(message, partial(self._load, one, context)):
                    return self._matrix_place(index, spec)
        return None

    def _matrix_place(self, index: int, spec: BenchmarkSpec) -> tuple[str | int, ...] | None:
        if "matrix" in self.overridden:
            return None
        return ("matrix",) if spec.matrix is None else ("benchmarks", index, "matrix")

    def _filter_place(self, message: str, context: PlanContext) -> tuple[str | int, ...] | None:
        """The key of a benchmark's filter that says this, or the filter where only all its keys together do."""
        from proctor.planning.selection import select

        for index, spec in enumerate(self.plan.benchmarks):
            samples = self._load(spec, context).samples
            for key, values in spec.where.items():
                if _says(message, partial(select, samples, {key: values}, None, self.plan.seed)):
                    return ("benchmarks", index, "where", key)
            if _says(message, partial(select, samples, spec.where, None, self.plan.seed)):
                return ("benchmarks", index, "where")
        return None

    def _read_rule(self) -> object:
        from proctor.stopping.rule import rule_of

        return rule_of(self.plan)


def _says(message: str, look_up: Callable[[], object]) -> bool:
    try:
        look_up()
    except UserError as again:
        return str(again) == message
    return False


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
    plan_from({**LEAST, "matrix": axes or None})  # a flag's mistake is not the file's
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
        scheme = LM_EVAL if spec.benchmark.startswith(LM_EVAL) else ""
        path = folder / spec.benchmark.removeprefix(scheme)
        is_file = spec.benchmark.lower().endswith(YAML_ENDINGS) and path.is_file()
        return spec.model_copy(update={"benchmark": f"{scheme}{path}"}) if is_file else spec

    def moved(matrix: T | None) -> T | None:
        if not isinstance(matrix, BenchmarkMatrix) or matrix.prompt is None:
            return matrix
        prompts = tuple(str(folder / one) if isinstance(one, str) else one for one in matrix.prompt)
        return matrix.model_copy(update={"prompt": prompts})

    benchmarks = [spec.model_copy(update={"matrix": moved(spec.matrix)}) for spec in map(found, plan.benchmarks)]
    return plan.model_copy(update={"benchmarks": tuple(benchmarks), "matrix": moved(plan.matrix)})
