"""The process that compares expressions: started when first needed, killed when it is too slow, then started anew.

It reads what models wrote, so it gets none of our environment, a folder that is gone, and limits (see `math_worker`).
"""

from __future__ import annotations

import atexit
import os
import select
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import orjson

from proctor.domain.errors import ScorerError
from proctor.scorers.reading import encodable

START_SECONDS = 60.0
"""Importing sympy takes seconds on a busy machine; that is not the expression's fault."""
WALL_FACTOR = 6
Problem = Literal["", "target", "answer", "time", "crash"]
_START = "import sys; sys.path[:] = sys.argv[1:]; from proctor.scorers.math_worker import main; main()"
_ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"}


@dataclass(frozen=True, slots=True)
class MathComparison:
    is_equal: bool = False
    answer: str | None = None
    problem: Problem = ""


class MathProcess:
    """One worker, used by one caller at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def compare(self, answer: str, targets: tuple[str, ...], seconds: float) -> MathComparison:
        """Whether the answer equals a target; what breaks off on an answer is told apart from what does on any."""
        with self._lock:
            said = self._compare(answer, targets, seconds)
            if said.problem in ("time", "crash") and not self._compare(targets[0], targets[:1], seconds).is_equal:
                raise ScorerError(f"The target {targets[0]!r} cannot be compared even with itself within {seconds} s.")
            return said

    def _compare(self, answer: str, targets: tuple[str, ...], seconds: float) -> MathComparison:
        process = self._running()
        question = {"answer": encodable(answer), "targets": [encodable(target) for target in targets]}
        try:
            reply = _ask(process, question, seconds)
        except (OSError, EOFError):  # it died of the expression: out of memory, or a crash in C
            self._kill()
            return MathComparison(problem="crash")
        if reply is None:
            self._kill()
            return MathComparison(problem="time")
        return MathComparison(**orjson.loads(reply))

    def close(self) -> None:
        with self._lock:
            self._kill()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is None:
            return self._process
        self._kill()
        modules = [str(Path(place).resolve()) for place in sys.path]
        # The folder goes once the process is ready: nothing can be made in a folder that is gone.
        with tempfile.TemporaryDirectory(prefix="proctor-math-") as folder:
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and module, with paths of ours
                [sys.executable, "-I", "-c", _START, *modules],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=_ENVIRONMENT,
                cwd=folder,
            )
            try:
                ready = _ask(self._process, None, START_SECONDS)
            except (OSError, EOFError):
                ready = None
        if ready is None:
            self._kill()
            raise ScorerError("The process that compares expressions did not start; is math-verify installed?")
        return self._process

    def _kill(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                try:
                    stream.close()
                except OSError:  # unsent bytes for a process that is gone
                    continue


def _ask(process: subprocess.Popen[bytes], question: object, seconds: float) -> bytes | None:
    """One line out, one line back; None when the time is over."""
    stdin, stdout = process.stdin, process.stdout
    if stdin is None or stdout is None:
        raise EOFError
    if question is not None:
        stdin.write(orjson.dumps(question) + b"\n")
        stdin.flush()
    clock = _Clock(process.pid, seconds)
    poll = select.poll()  # not `select`: it takes no descriptor above 1,023, and a run with many connections has those
    poll.register(stdout.fileno(), select.POLLIN)
    received = b""
    while not received.endswith(b"\n"):
        if not poll.poll(1000 * clock.pause):
            if clock.is_over():
                return None
            continue
        piece = stdout.read1(65536)  # type: ignore[attr-defined]  # a buffered pipe has it
        if not piece:
            raise EOFError
        received += piece
    return received


class _Clock:
    """Counts the worker's own CPU seconds, so that a busy machine does not make an answer invalid."""

    def __init__(self, pid: int, seconds: float) -> None:
        self._stat = Path(f"/proc/{pid}/stat")
        self._seconds = seconds
        self._used = self._cpu_seconds()
        self._latest = time.monotonic() + (seconds if self._used is None else seconds * WALL_FACTOR)
        self.pause = min(0.25, seconds)

    def is_over(self) -> bool:
        used = self._cpu_seconds()
        if used is not None and self._used is not None and used - self._used >= self._seconds:
            return True
        return time.monotonic() >= self._latest

    def _cpu_seconds(self) -> float | None:
        """None where the system does not say; then the wall clock decides."""
        try:
            fields = self._stat.read_text().rpartition(")")[2].split()
        except OSError:
            return None
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


_SHARED = MathProcess()
atexit.register(_SHARED.close)
compare = _SHARED.compare
