"""Starts checkers, serves them, and keeps what they report; a test that was not reported was not run."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from proctor.domain.errors import ScorerError
from proctor.domain.problem import CheckKind, Problem
from proctor.domain.scorecard import CheckResult, CheckStatus
from proctor.programs.answering import CheckRequests, answered
from proctor.programs.checking.frames import MAX_FRAME, packed, unpacked
from proctor.programs.children import end
from proctor.sandboxes.inside.frames import FrameTooLargeError, read_frame

MAX_CHECKERS = 4
"""A test that takes its checker with it is failed, and the rest gets another; not for ever."""
FOLDERS = ("tests/visible", "tests/hidden/unit", "tests/hidden/integration", "tests/hidden/property")
MAX_MESSAGE = 2_000
_LOG_BYTES = 16_000
_LEAVE_SECONDS = 5.0
_PROPER_ENDS = (0, 1, 5)  # all passed, some failed, none were left to run


@dataclass
class Checked:
    """What the checkers said."""

    results: dict[str, CheckResult] = field(default_factory=dict)
    log: str = ""
    property_began: float | None = None
    """Seconds since the epoch at which the first property check began."""


@dataclass(frozen=True, slots=True)
class Order:
    """What a checker is told; `prefix` puts it into the program's network."""

    setup: Mapping[str, Any]
    prefix: Sequence[str]
    wall_seconds: float


def setup_of(problem: Problem, language: str, call_seconds: float, test_seconds: float) -> dict[str, Any]:
    return {
        "folder": str(problem.folder),
        "kind": str(problem.interface.kind),
        "language": language,
        "paths": [str(problem.folder / path) for path in FOLDERS if (problem.folder / path).is_dir()],
        "skip": [],
        "call_seconds": call_seconds,
        "test_seconds": test_seconds,
    }


async def run_checks(problem: Problem, answers: CheckRequests, order: Order) -> Checked:
    """Run every visible and hidden test; the answer names each of them, whatever happened."""
    checked = Checked()
    deadline = time.monotonic() + order.wall_seconds
    for _ in range(MAX_CHECKERS):
        setup = {**order.setup, "skip": sorted(checked.results)}
        watch = _Watch(checked, problem.checks)
        left = deadline - time.monotonic()
        is_over = await _serve(answers, Order(setup, order.prefix, left), watch)
        if is_over or time.monotonic() >= deadline:
            break
    for name, kind in problem.checks.items():
        if name not in checked.results:
            checked.results[name] = CheckResult(name, str(kind), CheckStatus.NOT_RUN, "no result was reported")
    return checked


class _Watch:
    """Follows one checker: which test runs, which have ended."""

    def __init__(self, checked: Checked, names: Collection[str]) -> None:
        self.checked = checked
        self._names = names
        self.running: tuple[str, str, float] | None = None
        self.broken: list[str] = []
        self.is_over = False

    def hear(self, message: Mapping[str, Any]) -> bool:
        """False once there is nothing more to hear."""
        event = message["event"]
        if event == "started":
            self.running = (str(message["name"]), str(message["kind"]), time.monotonic())
            if message["kind"] == CheckKind.PROPERTY and self.checked.property_began is None:
                self.checked.property_began = time.time()
        elif event == "result":
            self.running = None
            self.checked.results[str(message["name"])] = CheckResult(
                str(message["name"]),
                str(message["kind"]),
                CheckStatus(message["status"]),
                str(message["message"])[:MAX_MESSAGE],
                round(float(message["seconds"]), 4),
            )
        elif event == "broken":
            self.broken.append(str(message["message"]))
        elif event == "end":
            self.is_over = True
            if message["code"] not in _PROPER_ENDS:
                self.broken.append(f"pytest ended with {message['code']}")
            return False
        return True

    def lose(self, reason: str, *, is_late: bool = False) -> None:
        """The checker is gone: the test that ran has failed; what was reported before counts."""
        if self.running is None:
            if self.is_all_reported() or (is_late and self.checked.results):
                return
            raise ScorerError(f"The checker ended by itself: {reason}. Last lines: {self.checked.log[-500:]}")
        name, kind, began = self.running
        self.checked.results[name] = CheckResult(
            name, kind, CheckStatus.FAILED, f"the check did not end: {reason}", round(time.monotonic() - began, 4)
        )

    def is_all_reported(self) -> bool:
        return all(name in self.checked.results for name in self._names)


async def _serve(answers: CheckRequests, order: Order, watch: _Watch) -> bool:
    """True when there is nothing more to check."""
    turn = asyncio.Lock()
    is_late = False
    async with checker(order) as line:
        try:
            async with asyncio.timeout(order.wall_seconds):
                await converse(line, answers, turn, watch.hear)
        except TimeoutError:
            is_late = True
        finally:
            await answers.end_jobs()
        watch.checked.log += line.log()
    if watch.broken:
        why = f"{' '.join(watch.broken)} {watch.checked.log}"
        raise ScorerError(f"The problem's tests cannot be run: {why[:MAX_MESSAGE]}")
    if is_late:
        watch.lose(f"all checks together took longer than {order.wall_seconds:g} s", is_late=True)
    elif not watch.is_over:
        watch.lose("its process ended")
    return watch.is_over or watch.is_all_reported()


class CheckerProcess:
    """A running checker and the socket to it."""

    def __init__(
        self, process: asyncio.subprocess.Process, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, log: int
    ) -> None:
        self.process = process
        self._reader = reader
        self._writer = writer
        self._log = log
        self.is_leaving = False
        """It has said its last, and ends by itself."""

    async def receive(self) -> Any:
        """The next message; None at the end."""
        try:
            return unpacked(await read_frame(self._reader, MAX_FRAME))
        except FrameTooLargeError as error:
            raise ScorerError(f"The checker sent a message that is too long: {error}.") from None
        except (asyncio.IncompleteReadError, ConnectionError):
            return None

    async def send(self, message: Any) -> None:
        with contextlib.suppress(ConnectionError):
            self._writer.write(packed(message))
            await self._writer.drain()

    def log(self) -> str:
        # Read by position: the checker writes where its own descriptor, which is ours too, stands.
        start = max(0, os.fstat(self._log).st_size - _LOG_BYTES)
        return os.pread(self._log, _LOG_BYTES, start).decode("utf-8", "replace")

    async def close(self) -> None:
        await end(self.process, _LEAVE_SECONDS if self.is_leaving else 0.0)
        self._writer.close()
        with contextlib.suppress(ConnectionError):
            await self._writer.wait_closed()


@contextlib.asynccontextmanager
async def checker(order: Order) -> AsyncIterator[CheckerProcess]:
    """A checker process with its orders, gone when the block ends; it has no folder that could be left behind."""
    with tempfile.TemporaryFile() as log:
        ours, theirs = socket.socketpair()
        try:
            process = await asyncio.create_subprocess_exec(
                *order.prefix,
                *(sys.executable, "-P", "-B", "-m", "proctor.programs.checking.main"),
                stdin=theirs.fileno(),
                stdout=log,
                stderr=log,
                cwd="/",
                env=_environment(),
                start_new_session=True,
            )
        except OSError as error:
            ours.close()
            raise ScorerError(f"The checker could not be started: {error}") from error
        finally:
            theirs.close()
        reader, writer = await asyncio.open_connection(sock=ours, limit=MAX_FRAME)
        line = CheckerProcess(process, reader, writer, log.fileno())
        try:
            await line.send(dict(order.setup))
            yield line
        finally:
            await line.close()


async def converse(line: CheckerProcess, answers: CheckRequests, turn: asyncio.Lock, hear: Any) -> None:
    """Answer questions side by side until the checker has said its last; a fault of the workspace ends it all."""
    pending: set[asyncio.Task[None]] = set()

    async def reply(message: Mapping[str, Any]) -> None:
        await line.send(await answered(answers, message, turn))

    receiving = asyncio.ensure_future(line.receive())
    try:
        while True:
            done, _ = await asyncio.wait({receiving, *pending}, return_when=asyncio.FIRST_COMPLETED)
            for task in done & pending:
                pending.discard(task)
                task.result()  # raises what the workspace raised
            if receiving not in done:
                continue
            message = receiving.result()
            if message is None or ("event" in message and not hear(message)):
                line.is_leaving = True
                return
            if "do" in message:
                pending.add(asyncio.ensure_future(reply(message)))
            receiving = asyncio.ensure_future(line.receive())
    finally:
        for task in (receiving, *pending):
            task.cancel()
        await asyncio.gather(receiving, *pending, return_exceptions=True)


def _environment() -> dict[str, str]:
    """Nothing of the user's: no options for pytest, no plugins, no keys; a tracer that follows us may follow on."""
    return {
        **{name: value for name, value in os.environ.items() if name.startswith("COVERAGE_")},
        "PATH": os.defpath,
        "HOME": "/",
        "LANG": "C.UTF-8",
        "MALLOC_ARENA_MAX": "4",  # each reserves address space, of which a checker has only so much
        "PYTHONPATH": str(Path(__file__).resolve().parents[3]),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "HYPOTHESIS_STORAGE_DIRECTORY": f"{os.devnull}/nowhere",
    }
