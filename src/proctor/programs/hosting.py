"""A program that listens: started in its place, polled until it is ready, stopped, started again."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from proctor.domain.sandbox import SandboxLimits, SandboxResult
from proctor.domain.workspace import WORK, Process, Reach, Workspace
from proctor.programs.children import end

DATA = "/data"
"""What must survive a restart; no check's fresh start touches it."""
STOP_SECONDS = 5.0
_PROBE = Path(__file__).parent / "checking" / "probe.py"
_POLL_SECONDS = 0.02
_SHOWN = 2_000


def free_port() -> int:
    """A port nobody of this machine listens on: a workspace without a network of its own shares the machine's."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


@dataclass(frozen=True, slots=True)
class ServiceCommand:
    """What is started, and how it shows that it is ready."""

    command: Callable[[int], Sequence[str]]
    environment: Callable[[int], Mapping[str, str]]
    ready_path: str
    """Empty: a connection is enough."""
    ready_seconds: float
    limits: SandboxLimits
    folder: str = WORK


class Hosted:
    """One program in one place, on another port each time it is started."""

    def __init__(self, workspace: Workspace, what: ServiceCommand) -> None:
        self._workspace = workspace
        self._what = what
        self.process: Process | None = None
        self.reach: Reach | None = None
        self.start_seconds: float | None = None
        """From the latest start until it was ready."""
        self._began = 0.0
        self._logs: list[bytes] = []

    @property
    def is_running(self) -> bool:
        return self.process is not None and self.process.is_running

    async def start(self) -> None:
        port = free_port()
        self._began = time.monotonic()
        self.process = await self._workspace.start(
            self._what.command(port),
            environment=self._what.environment(port),
            folder=self._what.folder,
            limits=self._what.limits,
        )
        self.reach = await self._workspace.reach(port)

    async def ready(self) -> str:
        """Wait until it answers; otherwise why it does not, in words."""
        process, reach = self._started()
        probe = await asyncio.create_subprocess_exec(
            *reach.prefix,
            *(sys.executable, "-I", "-S", "-B", str(_PROBE)),
            *(reach.host, str(reach.port), self._what.ready_path, str(self._what.ready_seconds)),
            stdin=asyncio.subprocess.DEVNULL,
        )
        try:
            code = await _ended(probe, process, self._what.ready_seconds + 10)
        finally:
            await end(probe)
        if code == 0:
            self.start_seconds = time.monotonic() - self._began
            return ""
        if not process.is_running:
            return f"it ended before it was ready: {await self._how_it_ended()}"
        wanted = f"GET {self._what.ready_path}" if self._what.ready_path else "a connection"
        return f"no answer to {wanted} within {self._what.ready_seconds:g} s; {await self._last_words()}"

    async def kill(self) -> SandboxResult | None:
        return await self._signalled(signal.SIGKILL, STOP_SECONDS)

    async def terminate(self, seconds: float) -> SandboxResult | None:
        return await self._signalled(signal.SIGTERM, seconds)

    async def stop(self) -> SandboxResult | None:
        """TERM, then KILL; how it ended."""
        ended = await self.terminate(STOP_SECONDS)
        return ended if ended is not None else await self.kill()

    async def pause(self) -> None:
        """It stands still until it is resumed; twice, for what it started while it was being stopped."""
        for _ in range(2):
            await self._started()[0].signal(signal.SIGSTOP)

    async def resume(self) -> None:
        await self._started()[0].signal(signal.SIGCONT)

    async def restart(self, *, is_fresh: bool = False) -> str:
        """Stop, start and wait; empty when it is ready again."""
        if self.is_running:
            await self.stop()
        if self.process is not None:
            self._logs = [b"".join(await self.process.logs())[-_SHOWN * 8 :]]
        if is_fresh:
            await self._workspace.empty(DATA)
        await self.start()
        return await self.ready()

    async def logs(self) -> bytes:
        """What it printed, the time before the last restart too."""
        now = b"".join(await self.process.logs()) if self.process is not None else b""
        return b"".join(self._logs) + now

    def _started(self) -> tuple[Process, Reach]:
        if self.process is None or self.reach is None:
            raise RuntimeError("nothing was started")
        return self.process, self.reach

    async def _signalled(self, number: int, seconds: float) -> SandboxResult | None:
        process, _ = self._started()
        if process.is_running:
            await process.signal(number)
        return await process.wait(seconds)

    async def _how_it_ended(self) -> str:
        process, _ = self._started()
        ended = await process.wait(STOP_SECONDS)
        how = "still ending" if ended is None else f"{ended.ending}, exit code {ended.exit_code}"
        return f"{how}; {await self._last_words()}"

    async def _last_words(self) -> str:
        text = (await self.logs()).decode("utf-8", "replace").strip()
        return f"it printed: {text[-_SHOWN:]}" if text else "it printed nothing"


async def _ended(probe: asyncio.subprocess.Process, process: Process, seconds: float) -> int | None:
    """The probe's exit code; None when the program ended first."""
    waiting = asyncio.ensure_future(probe.wait())
    deadline = time.monotonic() + seconds
    try:
        while not waiting.done() and time.monotonic() < deadline:
            await asyncio.wait([waiting], timeout=_POLL_SECONDS)
            if not process.is_running and not waiting.done():
                return None
        return waiting.result() if waiting.done() else None
    finally:
        waiting.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await waiting
