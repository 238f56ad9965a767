"""Rows from Python: a function that gives them, or a file that comes with a package."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from proctor.benchmarks.rows import BadRow, Row, Rows, StreamedRows
from proctor.benchmarks.sources import open_rows
from proctor.domain.errors import BenchmarkError, did_you_mean
from proctor.domain.identity import digest
from proctor.domain.sample import Sample


def read_function(reference: str, folder: Path) -> Rows:
    """What a Python function gives (mappings or Samples); it is called anew each time the rows are walked through."""
    label = f"python://{reference}"
    function = find_function(reference, folder)

    def rows() -> Iterator[Row]:
        for number, row in enumerate(_called(function, label), start=1):
            yield number, _row(row)

    return StreamedRows(label, "row", rows)


def given_rows(rows: Any, label: str) -> Rows:
    """Rows that are there already."""
    listed = list(_iterable(rows, label))
    return StreamedRows(label, "row", lambda: enumerate(map(_row, listed), start=1))


def _row(row: Any) -> Any:
    is_row = isinstance(row, Mapping | Sample)
    return row if is_row else BadRow(f"a row is a mapping or a Sample, not {type(row).__name__}")


def _called(function: Any, label: str) -> Iterator[Any]:
    number = 0
    try:
        for row in _iterable(function(), label):
            yield row
            number += 1
    except BenchmarkError:
        raise
    except Exception as fault:  # a stranger's code may raise anything; it becomes one clear error
        raise BenchmarkError(f"{label} failed after {number} rows: {type(fault).__name__}: {fault}") from fault


def _iterable(given: Any, label: str) -> Iterable[Any]:
    if isinstance(given, Iterable) and not isinstance(given, str | bytes | Mapping):
        return given
    raise BenchmarkError(f"{label} must give a list or another iterable of rows, not {type(given).__name__}.")


def read_package(reference: str, folder: Path) -> Rows:  # noqa: ARG001 (all sources are asked alike)
    """The rows of the file `module/path` of an installed package."""
    path = _packaged_file(reference)
    return open_rows(path.name, path.parent)


def _packaged_file(reference: str) -> Path:
    module, _, inner = reference.partition("/")
    label = f"package://{reference}"
    if not inner:
        raise BenchmarkError(f"{label} names no file: write package://module/file.")
    try:
        found = importlib.import_module(module)
    except ImportError as missing:
        raise BenchmarkError(f"{label}: there is no package {module!r} ({missing}).") from missing
    roots = [Path(root) for root in getattr(found, "__path__", [])] or [Path(found.__file__ or ".").parent]
    for root in roots:
        path = (root / inner).resolve()
        if path.is_file() and path.is_relative_to(root.resolve()):
            return path
    raise BenchmarkError(f"{label}: the package {module!r} has no file {inner!r}.")


def find_function(reference: str, folder: Path) -> Any:
    """`module:function`; the module is looked for in `folder`, the working folder, then wherever Python looks."""
    module_name, _, name = reference.partition(":")
    label = f"python://{reference}"
    if not module_name or not name.isidentifier():
        raise BenchmarkError(f"{label} names no function: write python://module:function.")
    module = _load_module(module_name, [folder.absolute(), Path.cwd()], label)
    function = getattr(module, name, None)
    if function is None:
        known = [key for key in vars(module) if not key.startswith("_")]
        raise BenchmarkError(f"{label}: the module has no {name!r}.{did_you_mean(name, known)}")
    if not callable(function):
        raise BenchmarkError(f"{label}: {name!r} is not a function but {type(function).__name__}.")
    return function


def _load_module(name: str, folders: Sequence[Path], label: str) -> ModuleType:
    try:
        for folder in folders:
            with _on_path(folder):
                spec = PathFinder.find_spec(name.partition(".")[0], [str(folder)])
                if spec is not None and spec.loader is not None:
                    return _from_spec(name, spec, folder)
        return importlib.import_module(name)
    except BenchmarkError:
        raise
    except ModuleNotFoundError as missing:
        looked = "beside the benchmark file, in the working folder and on PYTHONPATH"
        raise BenchmarkError(f"{label}: {missing} (looked {looked}).") from missing
    except Exception as fault:  # a stranger's module may raise anything while it is imported
        raise BenchmarkError(f"{label}: importing it failed: {type(fault).__name__}: {fault}") from fault


def _from_spec(name: str, spec: Any, folder: Path) -> ModuleType:
    """Two folders may each have a data.py: one already imported from elsewhere is not taken for this one."""
    known = sys.modules.get(spec.name)
    if known is None or getattr(known, "__file__", None) == spec.origin or "." in name:
        return importlib.import_module(name)
    private = f"{name}@{digest(str(folder))[:8]}"
    if private not in sys.modules:
        module = module_from_spec(spec)
        sys.modules[private] = module
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[private]
            raise
    return sys.modules[private]


@contextmanager
def _on_path(folder: Path) -> Iterator[None]:
    """The module's own neighbours can be imported while it is."""
    importlib.invalidate_caches()
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
