"""A scorer someone wrote: a Python function of sample and response."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from msgspec.structs import replace

from proctor.domain.errors import BenchmarkError, ScorerError
from proctor.domain.identity import digest
from proctor.domain.message import Json
from proctor.domain.response import Response
from proctor.domain.sample import Sample
from proctor.domain.score import Score
from proctor.domain.text import message_of


def create(reference: str, *, folder: Path | None = None, arguments: Mapping[str, Json] | None = None) -> CustomScorer:
    """The scorer behind 'module:function'; `arguments` are given to the function by name."""
    module_name, _, attribute = reference.partition(":")
    if not module_name or not attribute:
        raise BenchmarkError(f"'python://{reference}' names no function: write python://module:function.")
    module = _import(module_name, folder)
    function = getattr(module, attribute, None)
    if not callable(function):
        raise BenchmarkError(f"The module '{module_name}' has no function '{attribute}'.")
    given = dict(arguments or {})
    try:
        inspect.signature(function).bind(None, None, **given)
    except TypeError as error:
        raise BenchmarkError(
            f"'{reference}' cannot be called with (sample, response) and the options {sorted(given)}: {error}."
        ) from error
    version = digest([_source(module), attribute, given])[:12]
    return CustomScorer(name=attribute, version=version, function=partial(function, **given))


@dataclass(frozen=True, slots=True)
class CustomScorer:
    """Calls a function that returns a bool, a number in [0, 1], None (unscored) or a Score."""

    name: str
    version: str
    """A hash of the module's source, the function's name and its options."""
    function: Callable[[Sample, Response], Any]

    async def score(self, sample: Sample, response: Response) -> Score:
        try:
            if inspect.iscoroutinefunction(self.function.func if isinstance(self.function, partial) else self.function):
                said = await self.function(sample, response)
            else:
                said = await asyncio.to_thread(self.function, sample, response)
                if inspect.isawaitable(said):
                    said = await said
        except (Exception, SystemExit) as error:  # a function that runs an answer may be made to exit by it
            raise ScorerError(f"The scorer '{self.name}' raised {type(error).__name__}: {message_of(error)}") from error
        return self._score_from(said)

    def _score_from(self, said: Any) -> Score:
        if isinstance(said, Score):
            return said if said.name == self.name else replace(said, name=self.name)
        if said is None:
            return Score.unscored(self.name, reason="the function returned None")
        if isinstance(said, int | float) and math.isfinite(said) and 0 <= said <= 1:
            return Score(self.name, float(said), reason=f"the function returned {said}")
        raise ScorerError(
            f"The scorer '{self.name}' returned {said!r}; expected true, false, a number from 0 to 1, None or a Score."
        )


def _import(name: str, folder: Path | None) -> ModuleType:
    with _first_in_path(folder):
        try:
            module = importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name != name.partition(".")[0] and error.name != name:
                raise BenchmarkError(f"The module '{name}' needs '{error.name}', which is not installed.") from error
            where = f"in {folder} or " if folder else ""
            raise BenchmarkError(f"No module '{name}' {where}on PYTHONPATH.") from error
        except Exception as error:
            raise BenchmarkError(f"The module '{name}' failed: {type(error).__name__}: {error}") from error
    _check_place(module, name, folder)
    return module


def _check_place(module: ModuleType, name: str, folder: Path | None) -> None:
    """Python keeps one module per name: a namesake of another folder must not score in its place."""
    if folder is None or module.__file__ is None:
        return
    wanted = folder / (name.replace(".", "/") + ".py")
    if wanted.exists() and not wanted.samefile(module.__file__):
        raise BenchmarkError(f"Another module '{name}' is already in use ({module.__file__}); rename {wanted}.")


@contextmanager
def _first_in_path(folder: Path | None) -> Iterator[None]:
    if folder is None:
        yield
        return
    entry = str(folder.resolve())
    sys.path.insert(0, entry)
    try:
        importlib.invalidate_caches()
        yield
    finally:
        sys.path.remove(entry)


def _source(module: ModuleType) -> str:
    file = getattr(module, "__file__", None)
    return Path(file).read_bytes().hex() if file else module.__name__
