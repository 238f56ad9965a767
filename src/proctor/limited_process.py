"""A process of our own for work that strangers' files can make endless: limits of processor time and of memory."""

from __future__ import annotations

import atexit
import json
import os
import pickle
import resource
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from proctor.domain.errors import RunError
from proctor.worker_loop import answer_questions
from proctor.worker_process import WorkerDiedError, WorkerNotStartedError, WorkerProcess, WorkerTooSlowError

CPU_SECONDS = 5.0
"""For one request; most take a thousandth."""
WALL_SECONDS = 120.0
"""For when the process does not get to compute: a busy machine is no fault of the request."""
MEMORY_BYTES = 512 * 1024**2
KEPT_VARIABLES = ("PATH", "LD_LIBRARY_PATH", "SYSTEMROOT")


class WorkLimitError(Exception):
    """The work took more time or memory than it may."""


class LimitedProcess:
    """Runs `main` of a module, which calls `serve`; used by one caller at a time."""

    def __init__(self, module: str, purpose: str, cpu_seconds: float = CPU_SECONDS) -> None:
        kept = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
        self._worker = WorkerProcess(module, kept)
        self._purpose, self._cpu_seconds = purpose, cpu_seconds
        atexit.register(self.close)

    def ask(self, request: Any) -> Mapping[str, Any]:
        """The worker's reply; WorkLimitError says which limit was passed, ValueError why it cannot be asked."""
        try:
            question = pickle.dumps(request)
        except Exception as fault:
            raise ValueError(f"a value cannot be handed to another process: {fault}") from fault
        try:
            reply: dict[str, Any] = json.loads(self._worker.ask(question, self._cpu_seconds, WALL_SECONDS))
        except WorkerTooSlowError as fault:
            raise WorkLimitError(f"it takes {fault}") from None
        except WorkerDiedError:
            raise WorkLimitError("it takes more memory than there is for it") from None
        except WorkerNotStartedError:
            raise RunError(f"The process that {self._purpose} did not start.") from None
        if "limit" in reply:
            raise WorkLimitError(reply["limit"])
        return reply

    def close(self) -> None:
        self._worker.close()


def serve(answer: Callable[[Any], Mapping[str, Any]], get_ready: Callable[[], object]) -> None:
    """What a worker runs: `get_ready` loads what is needed, on nobody's time; then memory is limited."""

    def start() -> None:
        get_ready()
        with suppress(ValueError, OSError):  # macOS has no such limit; there, time alone is limited
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))

    def reply(question: bytes) -> bytes:
        try:
            said = answer(pickle.loads(question))  # noqa: S301 - of our own process
        except MemoryError:
            said = {"limit": f"it takes more than {MEMORY_BYTES // 2**20} MB of memory"}
        return json.dumps(said).encode()

    answer_questions(reply, start)
