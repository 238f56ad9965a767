"""The harness's hold on one supervisor process: one run at a time, never blocking the event loop."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import orjson

from proctor.domain.errors import SandboxError
from proctor.sandboxes.inside.frames import ENDING, MAX_LENGTH, framed, read_frame

_INSIDE = Path(__file__).parent
INTERPRETER = os.path.realpath(sys.executable)  # a virtual environment's link leads out of the sandbox
_CLOSE_SECONDS = 30.0
_GRACE_SECONDS = 60.0


class Slot:
    """A supervisor and what it watches over; hanging up ends all of it."""

    def __init__(
        self, process: subprocess.Popen[bytes], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._process = process
        self._reader = reader
        self._writer = writer

    @classmethod
    async def open(cls, config: Mapping[str, Any]) -> Slot:
        ours, theirs = socket.socketpair()
        inside, fd = str(_INSIDE), theirs.fileno()
        start = f"import sys; sys.path.insert(0, {inside!r}); from inside import supervisor; supervisor.main({fd})"
        with theirs:
            process = subprocess.Popen(  # noqa: ASYNC220, S603  ourselves; a few milliseconds, once per core
                [INTERPRETER, "-s", "-S", "-P", "-B", "-c", start],
                pass_fds=[theirs.fileno()],
                env=dict(config["environment"]),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                start_new_session=True,
                cwd="/",
            )
        try:
            reader, writer = await asyncio.open_connection(sock=ours, limit=1 << 20)
        except BaseException:
            ours.close()
            process.wait(_CLOSE_SECONDS)  # it has been told nothing yet, and ends at once
            raise
        slot = cls(process, reader, writer)
        slot._send(config)
        return slot

    def _send(self, message: Mapping[str, Any]) -> None:
        self._writer.write(framed(orjson.dumps(message)))

    async def ask(
        self, order: Mapping[str, Any], *, timeout_seconds: float, on_ending: Callable[[], None] = lambda: None
    ) -> dict[str, Any]:
        """One order and its answer; after any error the slot is of no more use and must be closed.

        `on_ending` is called when what ran computes no more and is being taken away.
        """
        try:
            self._send(order)
            async with asyncio.timeout(timeout_seconds + _GRACE_SECONDS):
                await self._writer.drain()
                while (frame := await read_frame(self._reader, MAX_LENGTH)) == ENDING:
                    on_ending()
            answer: dict[str, Any] = orjson.loads(frame)
        except (OSError, asyncio.IncompleteReadError, TimeoutError) as error:
            raise SandboxError(f"The sandbox's supervisor is lost ({type(error).__name__}).") from error
        except orjson.JSONDecodeError as error:
            raise SandboxError(f"The sandbox's supervisor gave an answer that cannot be read ({error}).") from error
        if "fault" in answer:
            raise SandboxError(f"The sandbox failed: {answer['fault']}.")
        return answer

    async def close(self) -> None:
        """Hang up and wait until the supervisor has removed everything; shielded from the caller's cancellation."""
        self._writer.close()
        with contextlib.suppress(OSError):
            await self._writer.wait_closed()
        await asyncio.shield(asyncio.to_thread(self._wait))

    def _wait(self) -> None:
        try:
            self._process.wait(_CLOSE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def cores() -> int:
    """How many runs go on at once: the cores this process may use."""
    return max(1, len(os.sched_getaffinity(0)))
