"""The checker's pytest plugin: the `program` fixture, a limit on every test, one result per test function."""

from __future__ import annotations

import signal
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from proctor.programs.checking import memory
from proctor.programs.checking.link import HarnessLink
from proctor.programs.checking.program import ProgramUnderTest
from proctor.programs.checking.wording import text_of

MAX_MESSAGE = 2_000
_WORSE = {"passed": 0, "not run": 1, "failed": 2, "error": 3}


Wrapped = Generator[None, pytest.TestReport, pytest.TestReport]


class OverrunError(BaseException):
    """A test took longer than it may; no test can catch this and carry on unnoticed."""


def kind_of(path: Path, folder: Path) -> str:
    parts = path.relative_to(folder).parts
    return "visible" if parts[1] == "visible" else parts[2]


def name_of(item: pytest.Item) -> str:
    return getattr(item, "originalname", item.name).removeprefix("test_")


class Reporting:
    """Told of every test by pytest; tells the harness."""

    def __init__(self, link: HarnessLink, program: ProgramUnderTest, setup: dict[str, Any]) -> None:
        self._link = link
        self._program = program
        self._folder = Path(setup["folder"])
        self._skip = frozenset(setup["skip"])
        self._seconds = float(setup["test_seconds"])
        self._left: dict[str, int] = {}
        self._results: dict[str, dict[str, Any]] = {}

    @pytest.fixture
    def program(self) -> Iterator[ProgramUnderTest]:
        self._program.begin_check()
        yield self._program
        self._program.end_check()

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Functional checks first, then properties; those another checker has done are left out."""
        items[:] = [item for item in items if name_of(item) not in self._skip]
        items.sort(key=lambda item: kind_of(item.path, self._folder) == "property")
        for item in items:
            self._left[name_of(item)] = self._left.get(name_of(item), 0) + 1

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._link.tell("broken", message=f"{report.nodeid}: {str(report.longrepr)[-MAX_MESSAGE:]}")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        name = name_of(item)
        if self._left.get(name) is not None and name not in self._results:
            kind = kind_of(item.path, self._folder)
            self._results[name] = {"name": name, "kind": kind, "status": "passed", "message": "", "seconds": 0.0}
            self._link.tell("started", name=name, kind=kind)
        began = time.monotonic()
        done = yield
        result = self._results[name]
        result["seconds"] += time.monotonic() - began
        self._left[name] -= 1
        if not self._left[name]:
            self._link.tell("result", **result)
        return done

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self) -> Iterator[None]:
        try:
            with _within(self._seconds):
                return (yield)
        except MemoryError as error:
            self._program.end_check()
            why = memory.used_up(error)
        raise AssertionError(why)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self) -> Iterator[None]:
        with _within(self._seconds):
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Wrapped:
        report = yield
        status = _status(report, call)
        result = self._results[name_of(item)]
        if _WORSE[status] > _WORSE[result["status"]]:
            result["status"] = status
            result["message"] = _message(report, call, item)
        return report


def _status(report: pytest.TestReport, call: pytest.CallInfo[None]) -> str:
    if report.passed and not hasattr(report, "wasxfail"):
        return "passed"
    if report.skipped or hasattr(report, "wasxfail"):
        return "not run"  # a check that was not carried out proves nothing
    wrong = call.excinfo is not None and call.excinfo.errisinstance(
        (AssertionError, OverrunError, pytest.fail.Exception)
    )
    return "failed" if wrong else "error"


def _message(report: pytest.TestReport, call: pytest.CallInfo[None], item: pytest.Item) -> str:
    """The last lines say what was wrong; which of several cases it was comes first."""
    case = f"[{item.callspec.id}] " if hasattr(item, "callspec") else ""
    if call.excinfo is None:
        return f"{case}{str(report.longrepr)[-MAX_MESSAGE:]}"
    value = call.excinfo.value
    notes = "\n".join(str(note) for note in getattr(value, "__notes__", ()))
    text = text_of(value)
    short = f"{type(value).__name__}: {text}" if not isinstance(value, AssertionError | OverrunError) else text
    where = call.excinfo.traceback[-1]
    line = next(
        (entry.lineno + 1 for entry in reversed(call.excinfo.traceback) if entry.path == item.path), where.lineno
    )
    return f"{case}line {line}: {short}{chr(10) + notes if notes else ''}"[:MAX_MESSAGE]


@contextmanager
def _within(seconds: float) -> Iterator[None]:
    def stop(*_: Any) -> None:
        raise OverrunError(f"the check did not end within {seconds:g} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
