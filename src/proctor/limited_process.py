"""A process of our own for work that strangers' files can make endless: started when needed, killed when too slow.

Requests and replies are frames: eight bytes of length, then a pickled value out and JSON back.
"""

from __future__ import annotations

import atexit
import json
import os
import pickle
import resource
import select
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, BinaryIO

from proctor.domain.errors import RunError

SECONDS = 5.0
"""For one request; most take a thousandth."""
START_SECONDS = 60.0
MEMORY_BYTES = 512 * 1024**2
_PASSED_ON = ("PATH", "PYTHONPATH", "PYTHONHOME", "LD_LIBRARY_PATH", "SYSTEMROOT")


class LimitExceededError(Exception):
    """The work took more time or memory than it may."""


class LimitedProcess:
    """One worker, used by one caller at a time."""

    def __init__(self, module: str, purpose: str) -> None:
        self._command = [sys.executable, "-P", "-m", module]
        """-P: the folder it is started in may be a stranger's, and nothing of it is imported."""
        self._purpose = purpose
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        atexit.register(self.close)

    def ask(self, request: Any) -> Mapping[str, Any]:
        """The worker's reply; LimitExceededError says which limit was passed, ValueError why it cannot be asked."""
        try:
            pickled = pickle.dumps(request)
        except Exception as fault:
            raise ValueError(f"a value cannot be handed to another process: {fault}") from fault
        with self._lock:
            process = self._running()
            try:
                _write(process, struct.pack(">Q", len(pickled)) + pickled, SECONDS)
                reply: dict[str, Any] = json.loads(_read(process, SECONDS))
            except TimeoutError:
                self._kill()
                raise LimitExceededError(f"it takes more than {SECONDS:g} s") from None
            except (EOFError, OSError, ValueError):
                self._kill()
                raise LimitExceededError("it takes more memory than there is for it") from None
        if "limit" in reply:
            raise LimitExceededError(reply["limit"])
        return reply

    def close(self) -> None:
        with self._lock:
            self._kill()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self._kill()
            kept = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
            self._process = subprocess.Popen(  # noqa: S603 - our own module
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=kept
            )
            try:
                _read(self._process, START_SECONDS)
            except (EOFError, TimeoutError):
                self._kill()
                raise RunError(f"The process that {self._purpose} did not start.") from None
        return self._process

    def _kill(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                stream.close()


def serve(answer: Callable[[Any], Mapping[str, Any]]) -> None:
    """What a worker runs: answers requests one by one, with little memory, until its parent is gone."""
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it ends with its parent, whose business an interrupt is
    with suppress(ValueError, OSError):  # macOS has no such limit; there, time alone is limited
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    write_frame(replies, b"{}")
    while len(head := sys.stdin.buffer.read(8)) == 8:
        (size,) = struct.unpack(">Q", head)
        request = pickle.loads(sys.stdin.buffer.read(size))  # noqa: S301 - of our own process
        try:
            reply = answer(request)
        except MemoryError:
            reply = {"limit": f"it takes more than {MEMORY_BYTES // 2**20} MB of memory"}
        write_frame(replies, json.dumps(reply).encode())


def write_frame(stream: BinaryIO, data: bytes) -> None:
    stream.write(struct.pack(">Q", len(data)) + data)
    stream.flush()


def _write(process: subprocess.Popen[bytes], data: bytes, seconds: float) -> None:
    if process.stdin is None:
        raise EOFError
    descriptor, latest, view = process.stdin.fileno(), time.monotonic() + seconds, memoryview(data)
    os.set_blocking(descriptor, False)
    while view:
        _wait(descriptor, select.POLLOUT, latest)
        view = view[os.write(descriptor, view) :]


def _read(process: subprocess.Popen[bytes], seconds: float) -> bytes:
    latest = time.monotonic() + seconds
    (size,) = struct.unpack(">Q", _read_exactly(process, 8, latest))
    return _read_exactly(process, size, latest)


def _read_exactly(process: subprocess.Popen[bytes], size: int, latest: float) -> bytes:
    if process.stdout is None:
        raise EOFError
    descriptor, received = process.stdout.fileno(), bytearray()
    while len(received) < size:
        _wait(descriptor, select.POLLIN, latest)
        piece = os.read(descriptor, min(size - len(received), 1 << 16))
        if not piece:
            raise EOFError
        received += piece
    return bytes(received)


def _wait(descriptor: int, what: int, latest: float) -> None:
    # Not `select`: it takes no descriptor above 1,023, and a run with many connections has those.
    poll = select.poll()
    poll.register(descriptor, what)
    if not poll.poll(1000 * max(0.0, latest - time.monotonic())):
        raise TimeoutError
