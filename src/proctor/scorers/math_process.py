"""The process that compares expressions: started when first needed, killed when it is too slow, then started anew."""

from __future__ import annotations

import atexit
import os
import select
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import orjson

from proctor.domain.errors import ScorerError

START_SECONDS = 60.0
"""Importing sympy takes seconds on a busy machine; that is not the expression's fault."""
WALL_FACTOR = 6
Problem = Literal["", "target", "answer", "time"]


@dataclass(frozen=True, slots=True)
class Comparison:
    is_equal: bool = False
    answer: str | None = None
    problem: Problem = ""


class MathProcess:
    """One worker, used by one caller at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def compare(self, answer: str, targets: tuple[str, ...], seconds: float) -> Comparison:
        with self._lock:
            process = self._running()
            try:
                reply = _ask(process, {"answer": answer, "targets": targets}, seconds)
            except (OSError, EOFError):  # it died of the expression: out of memory, or a crash in C
                self._kill()
                return Comparison(problem="time")
            if reply is None:
                self._kill()
                return Comparison(problem="time")
        return Comparison(**orjson.loads(reply))

    def close(self) -> None:
        with self._lock:
            self._kill()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is None:
            return self._process
        self._kill()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "proctor.scorers.math_worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
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
    descriptor = stdout.fileno()
    received = b""
    while not received.endswith(b"\n"):
        if not select.select([descriptor], [], [], clock.pause)[0]:
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
