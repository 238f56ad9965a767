"""The work a command or library is timed with notices every wrong answer: doing nothing, fast, is no work done."""

from __future__ import annotations

import contextlib
import importlib.util
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from proctor.programs.checking.program import Done

CATALOG = Path(__file__).parents[2] / "src" / "proctor" / "catalog" / "problems"
WORKS = sorted(CATALOG.glob("*/tests/load/work.py"))


@cache
def loaded(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("work", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Anything:
    """Whatever is called, asked for or made of it is this answer again, or what it was told to say."""

    def __init__(self, says: Any = None) -> None:
        self._says = says

    def __getattr__(self, name: str) -> Any:
        return lambda *_, **__: self._says if self._says is not None else self


class Idle:
    """A program that succeeds at everything, with the same words each time."""

    language = "python"

    def __init__(self, out: str, says: Any) -> None:
        self._out = out
        self.module = Anything(says)

    def run(self, *_: object, **__: object) -> Done:
        return Done(0, "exited", self._out.encode(), b"", 0.0)

    @contextlib.contextmanager
    def raises(self, *_: object, **__: object) -> Iterator[None]:
        yield


def test_every_command_and_library_has_work() -> None:
    assert len(WORKS) >= 11


@pytest.mark.parametrize(("out", "says"), [("", None), ("OK\n", True), ("{}", ())])
@pytest.mark.parametrize("path", WORKS, ids=lambda path: path.parents[2].name)
def test_an_idle_program_does_not_do_the_work(path: Path, out: str, says: Any) -> None:
    with pytest.raises((AssertionError, ValueError, TypeError, AttributeError)):
        loaded(path).work(Idle(out, says))
