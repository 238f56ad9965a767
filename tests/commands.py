"""A command in this process, and how it ended, for tests of the command line."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import orjson

from proctor.cli.main import main


@dataclass(frozen=True)
class Ended:
    """How a command ended, and what it said."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return orjson.loads(self.out)

    @property
    def error(self) -> str:
        """The one line on standard error; more than one, or a traceback, is a failure of the test."""
        assert self.err.count("\n") == 1, self.err
        assert "Traceback" not in self.err
        return self.err.strip()


Cli = Callable[..., Ended]


def ended(home: Path, folder: Path, *arguments: str) -> tuple[int, str, str]:
    """What a `proctor` process would end with, without the second that a process takes to start."""
    out, err = _pipe(), _pipe()
    code: Any = 0
    with (
        _fresh_modules(folder),
        chdir(folder),
        patch.dict(os.environ, {"PROCTOR_HOME": str(home)}),
        patch.object(sys, "argv", ["proctor", *arguments]),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as end:
            code = end.code
    return code or 0, _written(out), _written(err)


def _pipe() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8")


def _written(pipe: io.TextIOWrapper) -> str:
    pipe.seek(0)
    return pipe.read()


@contextmanager
def _fresh_modules(folder: Path) -> Iterator[None]:
    """A user's own modules are read anew by every command: another test's may have the same names."""
    path, before = list(sys.path), set(sys.modules)
    try:
        yield
    finally:
        sys.path[:] = path
        for name in set(sys.modules) - before:
            if Path(getattr(sys.modules[name], "__file__", None) or "/").is_relative_to(folder.resolve()):
                del sys.modules[name]
