"""From a benchmark's name or file to the benchmark."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from proctor import plugins
from proctor.benchmarks.packaged import find_function
from proctor.benchmarks.parameters import call, described, refuse_unknown
from proctor.domain.benchmark import Benchmark
from proctor.domain.errors import BenchmarkError, NotFoundError, did_you_mean
from proctor.domain.plan import BenchmarkSpec

PYTHON = "python://"
_YAML = (".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class BenchmarkInfo:
    """What a list of benchmarks shows: nothing of the data is read for it."""

    name: str
    description: str = ""
    tags: dict[str, str] = field(default_factory=dict)
    licence: str | None = None
    source: str | None = None
    parameters: dict[str, str] = field(default_factory=dict)
    """Each parameter with its default."""

    @property
    def form(self) -> str | None:
        return self.tags.get("form")


def load_benchmark(spec: BenchmarkSpec, *, seed: int, folder: Path, data: Path | None = None) -> Benchmark:
    """The benchmark a plan names: built in, a YAML file, a plugin, or python://module:function.

    Files and modules are looked for in `folder` first; `seed` makes generated benchmarks; `data` is a folder whose
    `NAME.jsonl` takes the place of the data of the catalogue's benchmark NAME.
    """
    name = spec.benchmark
    if name.startswith(PYTHON):
        benchmark = _from_function(spec, seed, folder, data)
    elif _looks_like_file(name, folder):
        benchmark = _from_file(spec, folder)
    elif name in _catalog():
        benchmark = _from_catalog(spec, data)
    else:
        benchmark = _from_plugin(spec, seed, folder, data)
    if spec.shots:
        raise BenchmarkError(f"The benchmark {benchmark.name!r} has no examples to show, so 'shots' cannot be given.")
    return benchmark


def list_benchmarks() -> list[BenchmarkInfo]:
    """Everything that can be run by name: the catalogue, the generated ones, and those of installed packages."""
    found = {name: _info_of_file(path) for name, path in _catalog().items()}
    for name in plugins.names("benchmarks"):
        if name not in found:
            found[name] = _info_of_plugin(name)
    return [found[name] for name in sorted(found)]


@cache
def _catalog() -> dict[str, Path]:
    """The catalogue's files by name; a file is called what its benchmark is called."""
    folder = Path(__file__).parent.parent / "catalog"
    return {path.stem: path for path in sorted(folder.glob("*.yaml"))}


def _looks_like_file(name: str, folder: Path) -> bool:
    return name.lower().endswith(_YAML) or "/" in name or "\\" in name or (folder / name).is_file()


def _from_file(spec: BenchmarkSpec, folder: Path) -> Benchmark:
    path = folder / spec.benchmark
    if path.is_dir():
        raise BenchmarkError(f"{spec.benchmark} is a folder; name the benchmark file in it.")
    if not path.is_file():
        near = [other.name for other in path.parent.glob("*.y*ml")] if path.parent.is_dir() else []
        raise NotFoundError(f"There is no benchmark file {spec.benchmark}.{did_you_mean(path.name, near)}")
    if path.suffix.lower() not in _YAML:
        raise BenchmarkError(
            f"{spec.benchmark} is not a benchmark file (.yaml). Write one that names it: "
            f"dataset: {{source: {path.name}, fields: {{input: …, target: …}}}}."
        )
    from proctor.benchmarks.definition import build, read_definition

    definition, document = read_definition(path, spec.benchmark)
    refuse_unknown(definition.name, spec.parameters, {})
    return build(definition, document, path.parent)


def _from_catalog(spec: BenchmarkSpec, data: Path | None) -> Benchmark:
    from proctor.benchmarks.definition import build, read_definition

    path = _catalog()[spec.benchmark]
    definition, document = read_definition(path)
    refuse_unknown(definition.name, spec.parameters, {})
    local = data / f"{spec.benchmark}.jsonl" if data is not None else None
    if local is not None and local.is_file():
        dataset = definition.dataset.model_copy(update={"source": local.name, "format": None})
        return build(definition.model_copy(update={"dataset": dataset}), document, local.parent)
    return build(definition, document, path.parent)


def _from_function(spec: BenchmarkSpec, seed: int, folder: Path, data: Path | None) -> Benchmark:
    function = find_function(spec.benchmark.removeprefix(PYTHON), folder)
    return _checked(call(function, spec.benchmark, spec.parameters, seed=seed, folder=folder, data=data), spec)


def _from_plugin(spec: BenchmarkSpec, seed: int, folder: Path, data: Path | None) -> Benchmark:
    try:
        factory = plugins.load("benchmarks", spec.benchmark)
    except plugins.PluginNotFoundError:
        known = {*_catalog(), *plugins.names("benchmarks")}
        hint = did_you_mean(spec.benchmark, known)
        raise NotFoundError(f"No benchmark {spec.benchmark!r}.{hint} Run 'proctor benchmarks'.") from None
    return _checked(call(factory, spec.benchmark, spec.parameters, seed=seed, folder=folder, data=data), spec)


def _checked(made: Any, spec: BenchmarkSpec) -> Benchmark:
    if not isinstance(made, Benchmark):
        raise BenchmarkError(f"{spec.benchmark} must give a Benchmark, not {type(made).__name__}.")
    return made


def _info_of_file(path: Path) -> BenchmarkInfo:
    from proctor.benchmarks.definition import read_definition

    definition, _ = read_definition(path)
    return BenchmarkInfo(
        definition.name, definition.description, definition.tags, definition.licence, definition.dataset.source
    )


def _info_of_plugin(name: str) -> BenchmarkInfo:
    """A plugin says what it is when it can be made without parameters; else its docstring has to do."""
    factory = plugins.load("benchmarks", name)
    parameters = described(factory)
    text = (factory.__doc__ or "").strip().partition("\n")[0]
    if "" in parameters.values():
        return BenchmarkInfo(name, text, parameters=parameters)
    made: Benchmark = call(factory, name, {}, seed=0, folder=Path.cwd(), data=None)
    return BenchmarkInfo(name, text or made.description, dict(made.tags), made.licence, made.source, parameters)
