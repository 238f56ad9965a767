"""The process that fills in templates of any kind: started when first needed, killed when it is too slow."""

from __future__ import annotations

import atexit
import json
import os
import pickle
import select
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from typing import Any

from proctor.domain.errors import RunError, TemplateLimitError
from proctor.prompts.jinja import Flavour

CPU_SECONDS = 5.0
"""For one template; most take a thousandth."""
WALL_SECONDS = 120.0
"""For when the process does not get to compute: a busy machine is no fault of the template."""
START_SECONDS = 60.0
_PASSED_ON = ("PATH", "PYTHONPATH", "PYTHONHOME", "LD_LIBRARY_PATH", "SYSTEMROOT")


class TemplateProcess:
    """One worker, used by one caller at a time."""

    def __init__(self, cpu_seconds: float = CPU_SECONDS) -> None:
        self._cpu_seconds = cpu_seconds
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def fill_in(self, flavour: Flavour, source: str, variables: Mapping[str, Any]) -> str:
        """The template's text; raises ValueError saying why there is none, or TemplateLimitError."""
        try:
            request = pickle.dumps((flavour, source, dict(variables)))
        except Exception as fault:
            raise ValueError(f"a value cannot be handed to a template with logic: {fault}") from fault
        with self._lock:
            reply = self._ask(request)
        if "limit" in reply:
            raise TemplateLimitError(reply["limit"])
        if "fault" in reply:
            raise ValueError(reply["fault"])
        return reply["text"]

    def close(self) -> None:
        with self._lock:
            self._kill()

    def _ask(self, request: bytes) -> dict[str, str]:
        process = self._running()
        try:
            _write(process, struct.pack(">Q", len(request)) + request, WALL_SECONDS)
            reply: dict[str, str] = json.loads(_read(process, WALL_SECONDS))
        except TimeoutError:
            self._kill()
            return {"limit": f"it takes more than {WALL_SECONDS:g} s"}
        except (EOFError, OSError, ValueError):
            self._kill()
            if process.returncode == -signal.SIGPROF:
                return {"limit": f"it takes more than {self._cpu_seconds:g} s of processor time"}
            return {"limit": "it takes more memory than there is for a template"}
        return reply

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self._kill()
            kept = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
            # -P: the folder it is started in may be a stranger's, and nothing of it is imported.
            command = [sys.executable, "-P", "-m", "proctor.prompts.template_worker", str(self._cpu_seconds)]
            self._process = subprocess.Popen(  # noqa: S603 - our own module
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=kept
            )
            try:
                _read(self._process, START_SECONDS)
            except (EOFError, TimeoutError):
                self._kill()
                raise RunError("The process that fills in templates did not start.") from None
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


_SHARED = TemplateProcess()
atexit.register(_SHARED.close)
fill_in = _SHARED.fill_in
