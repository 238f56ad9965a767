"""What a plan needs from the disk of whoever hands it in, as content: a worker may never see that disk.

Files are kept as artifacts under the hash of their content, by their path below the plan's folder.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

import yaml
from msgspec.structs import replace

from proctor import plugins
from proctor.benchmarks.registry import split_version
from proctor.domain.errors import StoreError, UserError
from proctor.domain.plan import ModelSpec, Plan
from proctor.programs.tools.scratch import scratch
from proctor.runs.resolve import PlanContext

PART_BYTES = 1 << 20
MAX_FILES = 2_000
_DATA = "(data)/"
"""Before the name of a file of the data folder."""
_YAML = (".yaml", ".yml")


def keep_content(plan: Plan, context: PlanContext) -> dict[str, str]:
    """Keep the files that the plan names, and those that its benchmark files name; gives path -> artifact."""
    if context.artifacts is None:
        return {}
    files: dict[str, Path] = {}
    for path in _named(plan, context.folder):
        files.update(_below(context.folder, path))
    if context.data is not None:
        files.update({f"{_DATA}{one.name}": one for one in _data_of(plan, files.values(), context.data)})
    if len(files) > MAX_FILES:
        raise UserError(f"The plan needs {len(files):,} files of {context.folder}, over the limit of {MAX_FILES:,}.")
    return {name: context.artifacts.put(path.name, _parts(path)) for name, path in sorted(files.items())}


@contextmanager
def restored(content: Mapping[str, str], context: PlanContext) -> Iterator[PlanContext]:
    """The same context with a private folder that holds the files; as it is where a plan came without any."""
    if not content or context.artifacts is None:
        yield context
        return
    with scratch() as place:
        folder, data = place / "plan", place / "data"
        folder.mkdir()
        for name, key in content.items():
            is_data = name.startswith(_DATA)
            path = (data if is_data else folder) / _inside(name.removeprefix(_DATA))
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("wb") as file:
                for part in context.artifacts.chunks(key):
                    file.write(part)
            path.chmod(0o700)  # it may be a program
        yield replace(context, folder=folder, data=data if data.is_dir() else context.data)


def _inside(name: str) -> PurePosixPath:
    """The path of a kept file below its folder; StoreError for one that leads out of it."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts:
        raise StoreError(f"{name!r:.120} leads out of the folder that it was kept for.")
    return path


def files_of_benchmark(path: Path) -> Iterator[Path]:
    """A benchmark file and the files below its folder that it names."""
    root = path.parent.resolve()
    for one in _with_references(path):
        if one.is_file() and one.resolve().is_relative_to(root):
            yield one


def _named(plan: Plan, folder: Path) -> Iterator[Path]:
    for spec in plan.benchmarks:
        if plugins.is_known("benchmarks", split_version(spec.benchmark, folder)[0]):
            continue  # a file or folder that is called so is not what the plan means
        name = spec.benchmark.removeprefix("lm-eval:")
        if name.startswith("inspect:"):
            name = name.removeprefix("inspect:").rpartition("@")[0] or name  # a package's task has no file
        if name.startswith("python://"):
            yield from _module(name.removeprefix("python://"), folder)
        else:
            yield from _with_references(folder / name)
    models: tuple[ModelSpec, ...] = (*plan.models, *plan.judge)
    for model in models:
        if model.provider == "python":
            yield from _module(model.name, folder)
        elif model.provider in ("command", "local"):
            yield folder / model.name
            if (workspace := model.settings.get("workspace")) is not None:
                yield folder / str(workspace)


def _module(name: str, folder: Path) -> Iterator[Path]:
    module = name.partition(":")[0].split(".")
    yield folder.joinpath(*module).with_suffix(".py")
    yield folder / module[0]


def _with_references(path: Path, depth: int = 3) -> Iterator[Path]:
    """A benchmark file with every file that it names, and those that these name."""
    yield path
    if depth == 0 or path.suffix.lower() not in _YAML or not path.is_file():
        return
    for text in _texts(path):
        if text and len(text) < 500 and "\n" not in text and "\0" not in text:
            found = path.parent / text
            if found != path and found.is_file():
                yield from _with_references(found, depth - 1)
            elif text.startswith("python://") or (":" in text and "://" not in text and " " not in text):
                yield from _module(text.removeprefix("python://"), path.parent)


def _texts(path: Path) -> Iterator[str]:
    """Every text in a file; one that cannot be read is refused where it is used."""
    try:
        stack: list[object] = [yaml.safe_load(path.read_text(encoding="utf-8"))]
    except (yaml.YAMLError, OSError, UnicodeDecodeError):
        return
    while stack:
        value = stack.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, Mapping):
            stack.extend(value.values())
        elif isinstance(value, list):
            stack.extend(value)


def _below(folder: Path, path: Path) -> Iterator[tuple[str, Path]]:
    """What is there at the path, by where it lies below the folder; nothing from outside of it."""
    root = folder.resolve()
    try:
        if not path.exists() or path.resolve() == root or not path.resolve().is_relative_to(root):
            return
    except (OSError, ValueError):
        return
    parts = sorted(path.rglob("*")) if path.is_dir() else [path]
    for part in parts:
        whole = part.resolve()
        if part.is_file() and "__pycache__" not in part.parts and whole.is_relative_to(root):
            yield whole.relative_to(root).as_posix(), part


def _data_of(plan: Plan, files: Iterable[Path], data: Path) -> Iterator[Path]:
    """The files of the data folder that take the place of what benchmarks of the plan read elsewhere."""
    names = {spec.benchmark.partition("@")[0] for spec in plan.benchmarks}
    names |= {text for path in files if path.suffix.lower() in _YAML for text in _texts(path) if "\n" not in text}
    for name in sorted(names):
        found = data / f"{name}.jsonl"
        if "/" not in name and found.is_file():
            yield found


def _parts(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while part := file.read(PART_BYTES):
            yield part
