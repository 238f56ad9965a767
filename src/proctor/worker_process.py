"""A Python process that answers questions, one at a time: started when first needed, ended when one takes too long."""

from __future__ import annotations

import os
import select
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from proctor.sandboxes.inside.frames import MAX_LENGTH, Unframer, framed

START_SECONDS = 60.0
"""Importing takes seconds on a busy machine; that is no fault of the first question."""
READY = b"ready"
LIMIT = struct.Struct(">d")
"""Goes before each question: the seconds of processor time that it may take."""
_START = "import sys; sys.path[:] = sys.argv[2:]; __import__('importlib').import_module(sys.argv[1]).main()"


class WorkerNotStartedError(Exception):
    """The process could not be started."""


class WorkerDiedError(Exception):
    """The process ended on a question: out of memory, or a crash in C."""


class WorkerTooSlowError(Exception):
    """The process was ended because a question took too long."""

    def __init__(self, seconds: float, *, is_cpu: bool) -> None:
        super().__init__(f"more than {seconds:g} s{' of processor time' if is_cpu else ''}")


class WorkerProcess:
    """Runs `main` of a module, which calls `worker_loop.answer_questions`; used by one caller at a time.

    It sees nothing of our environment but what it is given here, and imports nothing from the folder it is started in,
    which may be a stranger's.
    """

    def __init__(self, module: str, environment: Mapping[str, str], *, is_folderless: bool = False) -> None:
        self._module = module
        self._environment = dict(environment)
        self._is_folderless = is_folderless
        """Nothing can be made in a folder that is gone, and what it prints goes nowhere."""
        self._turn = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """Of the process that runs now; None when there is none."""
        process = self._process
        return None if process is None or process.poll() is not None else process.pid

    def ask(self, question: bytes, cpu_seconds: float, wall_seconds: float) -> bytes:
        """The answer; raises WorkerTooSlowError, WorkerDiedError or WorkerNotStartedError."""
        with self._turn:
            if self.pid is None:
                try:
                    self._start()
                except OSError:
                    raise WorkerNotStartedError from None
            try:
                return self._exchange(framed(LIMIT.pack(cpu_seconds) + question), wall_seconds)
            except TimeoutError:
                self._end()
                raise WorkerTooSlowError(wall_seconds, is_cpu=False) from None
            except (EOFError, OSError, ValueError):
                if self._end() == -signal.SIGPROF:
                    raise WorkerTooSlowError(cpu_seconds, is_cpu=True) from None
                raise WorkerDiedError from None
            except BaseException:  # interrupted: its answer must not be taken for the next question's
                self._end()
                raise

    def kill(self) -> None:
        """End whatever goes on, from any thread; the next question starts a new process."""
        process = self._process
        if process is not None:
            process.kill()

    def close(self) -> None:
        """End the process; calling it twice is harmless."""
        with self._turn:
            self._end()

    def _start(self) -> None:
        self._end()
        modules = [str(Path(place).resolve()) for place in sys.path if place]
        with ExitStack() as stack:
            folder = stack.enter_context(tempfile.TemporaryDirectory()) if self._is_folderless else None
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and module, with paths of ours
                [sys.executable, "-s", "-P", "-c", _START, self._module, *modules],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL if self._is_folderless else None,
                env=self._environment,
                cwd=folder,
                start_new_session=True,  # an interrupt is its parent's business
            )
            try:
                is_ready = self._exchange(b"", START_SECONDS) == READY
            except (EOFError, OSError, TimeoutError, ValueError):
                is_ready = False
        if not is_ready:
            self._end()
            raise WorkerNotStartedError

    def _exchange(self, data: bytes, seconds: float) -> bytes:
        process, latest, view = self._process, time.monotonic() + seconds, memoryview(data)
        if process is None or process.stdin is None or process.stdout is None:
            raise EOFError
        outgoing, incoming = process.stdin.fileno(), process.stdout.fileno()
        os.set_blocking(outgoing, False)
        while view:
            _wait(outgoing, select.POLLOUT, latest)
            view = view[os.write(outgoing, view) :]
        unframer = Unframer(MAX_LENGTH)
        while True:
            _wait(incoming, select.POLLIN, latest)
            piece = os.read(incoming, 1 << 16)
            if not piece:
                raise EOFError
            for answer in unframer.feed(piece):
                return answer

    def _end(self) -> int | None:
        """Gives how it ended; None when there was none."""
        process, self._process = self._process, None
        if process is None:
            return None
        process.kill()
        code = process.wait()  # one that had ended by itself keeps its own
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                stream.close()
        return code


def _wait(descriptor: int, what: int, latest: float) -> None:
    # Not `select`: it takes no descriptor above 1,023, and a run with many connections has those.
    poll = select.poll()
    poll.register(descriptor, what)
    if not poll.poll(1000 * max(0.0, latest - time.monotonic())):
        raise TimeoutError
