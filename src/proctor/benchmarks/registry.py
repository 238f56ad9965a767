"""From a benchmark's name or file to the benchmark."""

from __future__ import annotations

import glob
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field
from msgspec.structs import replace

from proctor import plugins
from proctor.benchmarks.packaged import find_function, given_rows
from proctor.benchmarks.parameters import call, described, refuse_unknown
from proctor.domain.benchmark import Benchmark
from proctor.domain.errors import BenchmarkError, NotFoundError, did_you_mean
from proctor.domain.fields import InvalidValueError
from proctor.domain.matrix import PromptText
from proctor.domain.plan import BenchmarkSpec
from proctor.prompts.choices import USUAL_LAYOUT
from proctor.yaml_document import explain_value

if TYPE_CHECKING:
    from proctor.benchmarks.schema import BenchmarkFile
    from proctor.yaml_document import LocatedDocument

PYTHON = "python://"
LM_EVAL = "lm-eval:"
INSPECT = "inspect:"
DEEPEVAL = "deepeval:"
_YAML = (".yaml", ".yml")


class BenchmarkInfo(Struct, frozen=True):
    """What a list of benchmarks shows: nothing of the data is read for it."""

    name: str
    description: str = ""
    tags: dict[str, str] = field(default_factory=dict)
    licence: str | None = None
    source: str | None = None
    parameters: dict[str, str] = field(default_factory=dict)
    """Each parameter with its default."""
    protocol: str = ""
    homepage: str | None = None
    shots: int | None = None
    """Worked examples by default; None where there is no pool of them."""
    variants: dict[str, str] = field(default_factory=dict)
    """Each variant and what it is; the first one is meant when none is named."""
    scorers: tuple[str, ...] = ()
    needs_sandbox: bool = False
    version: str | None = None
    """None where only reading it would tell."""
    is_own: bool = False
    """Whether a project uploaded it; others come with Proctor or are installed."""

    @property
    def form(self) -> str | None:
        return self.tags.get("form")


def load_benchmark(spec: BenchmarkSpec, *, seed: int, folder: Path, data: Path | None = None) -> Benchmark:
    """The benchmark a plan names: built in, a file, a plugin, python://module:function, lm-eval:, inspect:, deepeval:.

    Files and modules are looked for in `folder` first; `seed` makes generated benchmarks and picks worked examples;
    `data` is a folder whose `NAME.jsonl` takes the place of what the benchmark NAME would read from the hub.
    `NAME@VERSION` is the benchmark that declares this version; NotFoundError names those there are.
    """
    name, version = split_version(spec.benchmark, folder)
    if version is None:
        return _load(spec, seed, folder, data)
    asked = _asking_for(version, _named(spec, _name_of_version(name, version, folder)), folder)
    found = _load(asked, seed, folder, data)
    if found.version != version:
        others = [_load(_named(spec, one), seed, folder, data) for one in (name, *_other_versions(name, folder))]
        there = ", ".join(sorted({one.version for one in others}))
        raise NotFoundError(f"There is no version {version!r} of the benchmark {name!r}. There are: {there}.")
    return found


def _asking_for(version: str, spec: BenchmarkSpec, folder: Path) -> BenchmarkSpec:
    """A function with a parameter `version` makes the one that is asked for; others declare which they make."""
    if not spec.benchmark.startswith(PYTHON):
        return spec
    known = described(find_function(spec.benchmark.removeprefix(PYTHON), folder))
    given = {"version": version} if "version" in known else {}
    return spec.model_copy(update={"parameters": {**given, **spec.parameters}})


def _named(spec: BenchmarkSpec, name: str) -> BenchmarkSpec:
    return spec.model_copy(update={"benchmark": name})


def split_version(name: str, folder: Path) -> tuple[str, str | None]:
    """`mmlu@1` as the name and the version; None where no version is named, or the '@' is a file's or an address's."""
    head, mark, version = name.rpartition("@")
    is_plain = not head or not version or "/" in version or "\\" in version or version.lower().endswith(_YAML)
    is_address = ("://" in name and not name.startswith(PYTHON)) or name.startswith(INSPECT)
    if not mark or is_plain or is_address or (folder / name).is_file():
        return name, None
    return head, version


def _name_of_version(name: str, version: str, folder: Path) -> str:
    """What NAME@VERSION is called: sums@1.yaml beside sums.yaml, a plugin called sums@1; else the plain name."""
    others = [one for one in _other_versions(name, folder) if one.removesuffix(_ending(name)).endswith(f"@{version}")]
    return others[0] if others else name


def _other_versions(name: str, folder: Path) -> list[str]:
    """The names of a benchmark's other versions."""
    ending = _ending(name)
    if ending:
        stem = name.removesuffix(ending)
        return sorted(
            f"{stem}@{path.name.removesuffix(ending).rpartition('@')[2]}{ending}"
            for path in (folder / name).parent.glob(f"{glob.escape(Path(stem).name)}@*{ending}")
        )
    return sorted(one for one in (*_files_by_name(), *plugins.names("benchmarks")) if one.startswith(f"{name}@"))


def _ending(name: str) -> str:
    return next((name[-len(ending) :] for ending in _YAML if name.lower().endswith(ending)), "")


def _load(spec: BenchmarkSpec, seed: int, folder: Path, data: Path | None) -> Benchmark:
    name = spec.benchmark
    if name.startswith(LM_EVAL):
        from proctor.benchmarks.lm_eval import load_task

        return load_task(spec, seed=seed, folder=folder, data=data)
    if name.startswith(INSPECT):
        from proctor.benchmarks.inspect_task import definition_of

        benchmark = _benchmark_of(definition_of(spec, folder), spec, seed, folder, data)
    elif name.startswith(DEEPEVAL):
        from proctor.benchmarks.deepeval_task import definition_of as definition_of_deepeval

        benchmark = _benchmark_of(definition_of_deepeval(spec, data), spec, seed, folder, data)
    elif name.startswith(PYTHON):
        benchmark = _from_function(spec, seed, folder, data)
    elif _looks_like_file(name, folder):
        return _from_file(spec, seed, folder, data)
    elif name in _files_by_name():
        return _from_yaml(spec, _files_by_name()[name], None, seed, data)
    else:
        benchmark = _from_plugin(spec, seed, folder, data)
    if spec.shots:
        raise BenchmarkError(
            f"The benchmark {benchmark.name!r} has no examples to show, so 'shots' cannot be given.", setting="shots"
        )
    return benchmark


def list_benchmarks() -> list[BenchmarkInfo]:
    """Everything that can be run by name: the catalogue, the generated ones, and those of installed packages."""
    found = {name: _info_of_file(path) for name, path in _catalog().items()}
    found |= plugins.each("benchmarks", info_of_plugin)
    return [found[name] for name in sorted(found)]


def is_installed(name: str) -> bool:
    """Whether the name, or NAME@VERSION, means a benchmark of the catalogue or of a package: nothing else's file."""
    head, _, version = name.partition("@")
    is_plain = not any(mark in version for mark in "/\\:") and not version.lower().endswith(_YAML)
    return is_plain and (head in _catalog() or plugins.is_known("benchmarks", head))


@cache
def _files_by_name() -> dict[str, Path]:
    """The catalogue's files by name; an older version of NAME is called NAME@VERSION."""
    folder = Path(__file__).parent.parent / "catalog"
    return {path.stem: path for path in sorted(folder.glob("*.yaml"))}


def _catalog() -> dict[str, Path]:
    """The catalogue's files that a plain name means; a file is called what its benchmark is called."""
    return {name: path for name, path in _files_by_name().items() if "@" not in name}


def _looks_like_file(name: str, folder: Path) -> bool:
    return name.lower().endswith(_YAML) or "/" in name or "\\" in name or (folder / name).is_file()


def _from_file(spec: BenchmarkSpec, seed: int, folder: Path, data: Path | None) -> Benchmark:
    path = folder / spec.benchmark
    if path.is_dir():
        raise BenchmarkError(f"{spec.benchmark} is a folder; name the benchmark file in it.")
    if "://" in spec.benchmark:
        raise BenchmarkError(
            f"{spec.benchmark} is data, not a benchmark: name it as 'dataset: {{source: …}}' in a benchmark file, "
            "which says how to ask and how to score."
        )
    if not path.is_file():
        near = [other.name for other in path.parent.glob("*.y*ml")] if path.parent.is_dir() else []
        raise NotFoundError(f"There is no benchmark file {spec.benchmark}.{did_you_mean(path.name, near)}")
    if path.suffix.lower() not in _YAML:
        raise BenchmarkError(
            f"{spec.benchmark} is not a benchmark file (.yaml). Write one that names it: "
            f"dataset: {{source: {path.name}, fields: {{input: …, target: …}}}}."
        )
    return _from_yaml(spec, path, spec.benchmark, seed, data)


def _from_yaml(spec: BenchmarkSpec, path: Path, label: str | None, seed: int, data: Path | None) -> Benchmark:
    from proctor.benchmarks.datasets import DataLocation
    from proctor.benchmarks.definition import Asked, build, read_definition

    variant, layout = spec.parameters.get("variant"), spec.parameters.get("choices")
    own = {name: value for name, value in spec.parameters.items() if name != "prompt"}
    asked = Asked(seed, spec.shots, None if variant is None else str(variant), layout, _prompt_of(spec))
    definition, document = read_definition(path, label, asked)
    refuse_unknown(definition.name, own, parameters_of(definition))
    return build(definition, document, DataLocation(definition.name, path.parent, data, dict(spec.revisions)), asked)


def _prompt_of(spec: BenchmarkSpec) -> PromptText | None:
    """The prompt that a plan uses instead of the benchmark file's own."""
    if "prompt" not in spec.parameters:
        return None
    try:
        return PromptText.model_validate(spec.parameters["prompt"])
    except InvalidValueError as error:
        text = f"{spec.benchmark}: prompt: {explain_value(error, PromptText)}"
        raise BenchmarkError(text, setting="prompt") from None


def parameters_of(definition: BenchmarkFile) -> dict[str, str]:
    """What may be written after the `?` of a benchmark file's name, each with its default."""
    found: dict[str, str] = {}
    if definition.variants or definition.variant:
        found["variant"] = definition.variant or ""
    prompt = definition.prompt
    if prompt.choices is not None or prompt.user is None or "choice_lines" in prompt.user:
        found["choices"] = prompt.choices or USUAL_LAYOUT
    return found


def _from_function(spec: BenchmarkSpec, seed: int, folder: Path, data: Path | None) -> Benchmark:
    function = find_function(spec.benchmark.removeprefix(PYTHON), folder)
    made = call(function, spec.benchmark, spec.parameters, seed=seed, folder=folder, data=data)
    return _benchmark_of(made, spec, seed, folder, data)


def _from_plugin(spec: BenchmarkSpec, seed: int, folder: Path, data: Path | None) -> Benchmark:
    try:
        factory = plugins.load("benchmarks", spec.benchmark)
    except plugins.PluginNotFoundError:
        known = {*_catalog(), *plugins.names("benchmarks")}
        members = [name for name in sorted(known) if name.startswith(f"{spec.benchmark}-")]
        if members:
            raise NotFoundError(
                f"{spec.benchmark!r} is several benchmarks; name one or more of them: {', '.join(members)}."
            ) from None
        hint = did_you_mean(spec.benchmark, known)
        raise NotFoundError(f"No benchmark {spec.benchmark!r}.{hint} Run 'proctor benchmarks'.") from None
    with plugins.attribute_faults("benchmarks", spec.benchmark):
        made = call(factory, spec.benchmark, spec.parameters, seed=seed, folder=folder, data=data)
        if not isinstance(made, Benchmark):
            with plugins.attribute_faults("benchmarks", spec.benchmark, is_strict=True):
                _definition_of(made, spec.benchmark)
        return _benchmark_of(made, spec, seed, folder, data)


def _benchmark_of(made: Any, spec: BenchmarkSpec, seed: int, folder: Path, data: Path | None) -> Benchmark:
    """What a function gave: a Benchmark, or what a benchmark file would say, with `rows` in place of a source."""
    if isinstance(made, Benchmark):
        return made
    from proctor.benchmarks.datasets import DataLocation
    from proctor.benchmarks.definition import Asked, build

    definition, document = _definition_of(made, spec.benchmark)
    rows = given_rows(made["rows"], spec.benchmark) if "rows" in made else None
    location = DataLocation(definition.name, folder, data, dict(spec.revisions))
    return build(definition, document, location, Asked(seed, spec.shots), rows)


def _definition_of(made: Any, name: str) -> tuple[BenchmarkFile, LocatedDocument]:
    """What a function said in place of a file; its rows stay where they are."""
    from proctor.benchmarks.definition import read_mapping

    if not isinstance(made, Mapping):
        raise BenchmarkError(
            f"{name} must give a Benchmark, or a mapping as in a benchmark file, not {type(made).__name__}."
        )
    values = {key: value for key, value in made.items() if key != "rows"}
    if "rows" in made:
        values["dataset"] = {"source": name, **values.get("dataset", {})}
    return read_mapping(values, name)


def _info_of_file(path: Path) -> BenchmarkInfo:
    from proctor.benchmarks.definition import read_definition

    definition, _ = read_definition(path)
    return info_of(definition)


def info_of(definition: BenchmarkFile) -> BenchmarkInfo:
    """What a benchmark file says of itself."""
    named = {name: str(one.get("description", "")).strip() for name, one in definition.variants.items()}
    first = {definition.variant or "default": "As described: what is meant when no variant is named."} if named else {}
    return BenchmarkInfo(
        name=definition.name,
        description=definition.description.strip(),
        tags=definition.tags,
        licence=definition.licence,
        source=definition.dataset.source,
        parameters=parameters_of(definition),
        protocol=definition.protocol.strip(),
        homepage=definition.homepage,
        shots=definition.shots if definition.dataset.examples is not None else None,
        variants={**first, **named},
        scorers=tuple(name for entry in definition.scorers for name in entry),
        needs_sandbox=definition.needs_sandbox,
        version=definition.version,
    )


def find_info(spec: BenchmarkSpec, folder: Path) -> BenchmarkInfo | None:
    """What a benchmark says of itself, in the variant that is named, without its data; None for a function's."""
    from proctor.benchmarks.definition import Asked, read_definition

    variant = spec.parameters.get("variant")
    name, version = split_version(spec.benchmark, folder)
    if name.startswith((LM_EVAL, INSPECT, PYTHON)):
        return None
    if version is not None:
        name = _name_of_version(name, version, folder)
    path = folder / name if _looks_like_file(name, folder) else _files_by_name().get(name)
    if path is not None and path.is_file():
        asked = Asked(variant=None if variant is None else str(variant))
        info = info_of(read_definition(path, asked=asked)[0])
        return replace(info, variants=_info_of_file(path).variants) if variant is not None else info
    return info_of_plugin(name) if plugins.is_known("benchmarks", name) else None


def info_of_plugin(name: str) -> BenchmarkInfo:
    """A plugin says what it is when it can be made without parameters; else its docstring has to do."""
    if name in _catalog():
        raise BenchmarkError("the catalogue has a benchmark of this name")
    factory = plugins.load("benchmarks", name)
    parameters = described(factory)
    text = (factory.__doc__ or "").strip().partition("\n")[0]
    if "" in parameters.values():
        return BenchmarkInfo(name, text, parameters=parameters)
    made = call(factory, name, {}, seed=0, folder=Path.cwd(), data=None)
    if not isinstance(made, Benchmark):
        info = info_of(_definition_of(made, name)[0])
        return replace(info, name=name, description=info.description or text, parameters=parameters)
    return BenchmarkInfo(name, text or made.description, dict(made.tags), made.licence, made.source, parameters)
