"""A workspace as the harness holds it: everything asked of its agent, and limits only the host can see."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from msgspec.structs import asdict, replace

from proctor.domain.errors import SandboxError, UserError, WorkspaceSpentError
from proctor.domain.measuring import is_measured, measure
from proctor.domain.message import Json
from proctor.domain.sandbox import Ending, SandboxLimits, SandboxResult, Spent
from proctor.domain.workspace import APP, WORK, Reach, Seen, WorkspaceLimits
from proctor.sandboxes.inside.agent_frames import joined, parted
from proctor.sandboxes.workspaces.connection import AgentConnection, Answer, WorkspaceLostError
from proctor.sandboxes.workspaces.launch import SupervisedWorkspace
from proctor.sandboxes.workspaces.tunnel import Tunnel

Reacher = Callable[[int], Awaitable[Reach]]
_LIMITS = SandboxLimits()
_OWN_SIGKILL = 9
_AT_ONCE = 8
"""Commands that are executed at a time; more wait their turn, and leave an agent room for as many services."""


class OpenWorkspace:
    """A workspace with an agent inside and a supervisor outside."""

    def __init__(
        self,
        line: AgentConnection,
        supervisor: SupervisedWorkspace,
        limits: WorkspaceLimits,
        record: Mapping[str, Json],
        reach: Reacher | None,
        cluster: Sequence[Any] | None = None,
        held: tuple[int, ...] = (),
    ) -> None:
        self._line, self._supervisor = line, supervisor
        self._limits = limits
        self._record = record
        self._tunnel = Tunnel(line)
        self._reach = reach or self._tunnel.reach
        self._deadline = time.monotonic() + limits.seconds
        self._turns = asyncio.Semaphore(_AT_ONCE)
        self._memory_kills = 0
        self._refused_forks = 0
        self.cluster = cluster
        """Host and port of the cluster the workspace is in, where it is in one."""
        self._held = held
        self._closing: asyncio.Task[None] | None = None

    @property
    def record(self) -> Mapping[str, Json]:
        return self._record

    # Files

    async def write(self, files: Mapping[str, bytes], *, under: str = APP) -> None:
        """Lay files out below a folder; WorkspaceFullError when there is no room."""
        names, data = joined(files)
        await self._ask({"op": "write", "under": under, "files": names}, data)

    async def read(self, paths: Sequence[str]) -> Mapping[str, bytes]:
        """By absolute path; what is no regular file, or over 64 MiB in all, is left out."""
        head, body = await self._ask({"op": "read", "paths": list(paths)})
        return parted(head["files"], body)

    async def list(self, under: str) -> Mapping[str, int]:
        """Paths relative to the folder; the first 20,000 entries."""
        head, _ = await self._ask({"op": "list", "under": under})
        sizes: dict[str, int] = head["sizes"]
        return sizes

    async def left_out(self, under: str) -> Mapping[str, str]:
        """Paths relative to the folder, as they can be shown; the first 1,000."""
        head, _ = await self._ask({"op": "list", "under": under})
        left: dict[str, str] = head["left_out"]
        return left

    async def empty(self, folder: str = WORK) -> None:
        await self._ask({"op": "empty", "folder": folder})

    # Commands

    async def execute(
        self,
        command: Sequence[str],
        *,
        stdin: bytes = b"",
        environment: Mapping[str, str] | None = None,
        folder: str = WORK,
        limits: SandboxLimits = _LIMITS,
    ) -> SandboxResult:
        async with self._turns:
            process = await self._start(command, environment, folder, limits, stdin=stdin, is_service=False)
            try:
                done = await process.wait(limits.wall_seconds + 60)
            except asyncio.CancelledError:
                process.abandon()
                raise
        if done is None:
            raise WorkspaceLostError("the agent does not say how a command ended")
        return done

    async def start(
        self,
        command: Sequence[str],
        *,
        environment: Mapping[str, str] | None = None,
        folder: str = WORK,
        limits: SandboxLimits = _LIMITS,
    ) -> WorkspaceCommand:
        """It keeps the end of what the program prints, and never ends it for printing too much."""
        return await self._start(command, environment, folder, limits, stdin=b"", is_service=True)

    async def _start(
        self,
        command: Sequence[str],
        environment: Mapping[str, str] | None,
        folder: str,
        limits: SandboxLimits,
        *,
        stdin: bytes,
        is_service: bool,
    ) -> WorkspaceCommand:
        _check_command(command, environment)
        left = self._deadline - time.monotonic()
        used = replace(limits, wall_seconds=max(0.0, min(limits.wall_seconds, left)))
        number, ended = self._line.expect()
        process = WorkspaceCommand(self, number, ended, limits)
        order = {
            "op": "start",
            "job": number,
            "command": list(command),
            "environment": dict(environment or {}),
            "folder": folder,
            "limits": asdict(used),
            "is_service": is_service,
        }
        try:
            head, _ = await self._ask(order, stdin)
        except BaseException:
            process.abandon()
            raise
        if head["job"] is None:
            ended.set_result(_NO_PROCESS)
        return process

    async def _ask(
        self, order: Mapping[str, Any], body: bytes = b"", *, timeout_seconds: float | None = 60.0
    ) -> Answer:
        if self._closing is not None:
            raise SandboxError("The workspace is closed.")
        if time.monotonic() > self._deadline:
            raise SandboxError(f"The workspace's {self._limits.seconds:g} seconds are over.")
        try:
            return await self._line.ask(order, body, timeout_seconds=timeout_seconds)
        except WorkspaceLostError as error:
            raise self._gone(error) from error

    def _gone(self, error: Exception) -> SandboxError:
        """Whose doing it was: a program's that used up the memory, or nobody's."""
        if not self._supervisor.ended.done():
            return SandboxError(f"The workspace is gone: {error}.")
        ended = self._supervisor.ended.result()
        if ended["memory"]:
            size = self._limits.memory_bytes >> 20
            return WorkspaceSpentError(f"The workspace is gone: its {size} MiB of memory were used up.")
        return SandboxError(f"The workspace is gone: {error}. {ended['said'].strip()[-500:]}")

    async def executed(self, answer: Answer, limits: SandboxLimits) -> SandboxResult:
        """What the agent said of a command, and what the host knows better."""
        head, body = answer
        if head.get("fault"):
            raise SandboxError(f"The sandbox failed: {head['fault']}.")
        ending = Ending(head["ending"])
        code, number = head["exit_code"], head["signal"]
        if ending in (Ending.EXITED, Ending.CRASHED) and code != 0:
            ending = await self._counted(ending, code, number)
        if is_measured():
            backend = str(self._record.get("runner", "unknown"))
            seconds = head["spent"].get("seconds") or 0.0
            measure("sandbox_seconds", seconds, backend=backend, ending=str(ending))
            measure("sandbox_violations", float(sum(head["violations"].values())), backend=backend)
        output = parted(head["files"], body)
        return SandboxResult(
            ending=ending,
            exit_code=code,
            signal=number,
            stdout=output["stdout"],
            stderr=output["stderr"],
            spent=Spent(**head["spent"]),
            violations=head["violations"],
            sandbox={**self._record, "command_limits": asdict(limits)},
        )

    async def _counted(self, ending: Ending, code: int | None, number: int | None) -> Ending:
        """Memory and processes as the control group counts them: only the host sees those."""
        counters = await self._supervisor.counters()
        is_killed = counters["memory"] > self._memory_kills
        is_refused = counters["forks"] > self._refused_forks
        self._memory_kills, self._refused_forks = counters["memory"], counters["forks"]
        if is_killed and (number == _OWN_SIGKILL or code is not None):
            return Ending.MEMORY
        return Ending.PROCESSES if is_refused and code is not None else ending

    async def lost(self, limits: SandboxLimits, error: WorkspaceLostError) -> SandboxResult:
        """A command whose agent is gone: the program's doing when memory ran out, else a fault of the sandbox."""
        done, _ = await asyncio.wait({self._supervisor.ended}, timeout=5)
        if done and self._supervisor.ended.result()["memory"] and self._closing is None:
            record = {**self._record, "command_limits": asdict(limits)}
            return SandboxResult(ending=Ending.MEMORY, sandbox=record)
        raise self._gone(error) from error

    async def ask(self, order: Mapping[str, Any], body: bytes = b"", *, timeout_seconds: float | None = 60.0) -> Answer:
        return await self._ask(order, body, timeout_seconds=timeout_seconds)

    def forget(self, number: int, *, is_ended: bool) -> None:
        """Stop waiting for a command; one that is still running is ended."""
        self._line.forget(number)
        if not is_ended:
            self._line.say({"op": "end", "job": number})

    # The workspace itself

    async def reach(self, port: int) -> Reach:
        if self._closing is not None:
            raise SandboxError("The workspace is closed.")
        return await self._reach(port)

    async def gets_to(self, host: str, port: int, *, seconds: float = 3.0) -> bool:
        """Whether the agent itself, whom no filter stops, can connect there."""
        try:
            head, _ = await self._line.ask(
                {"op": "connect", "flow": 0, "host": host, "port": port}, timeout_seconds=seconds
            )
        except WorkspaceLostError:
            if self._line.is_lost:
                raise
            return False
        finally:
            self._line.say({"op": "taken", "flow": 0, "count": 0})
        return bool(head["is_open"])

    async def seen(self) -> Seen:
        head, _ = await self._ask({"op": "seen"})
        counters = await self._supervisor.counters()
        return Seen(
            violations=head["violations"],
            peak_memory_bytes=head["peak"] or None,
            cpu_seconds=counters["cpu"],
            egress=head["egress"],
            writes=head["writes"],
        )

    async def freeze(self) -> bool:
        return bool((await self._supervisor.counters("freeze"))["is_frozen"])

    async def thaw(self) -> None:
        await self._supervisor.counters("thaw")

    async def cpu_seconds(self) -> float | None:
        found: float | None = (await self._supervisor.counters())["cpu"]
        return found

    async def close(self) -> None:
        if self._closing is None:
            self._closing = asyncio.create_task(self._close())
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        for fd in self._held:
            os.close(fd)
        await self._tunnel.close()
        await self._line.close()
        await self._supervisor.close()


_NO_PROCESS: Answer = (
    {
        "ending": "processes",
        "exit_code": None,
        "signal": None,
        "spent": {},
        "violations": {},
        "files": [["stdout", 0], ["stderr", 0]],
    },
    b"",
)


class WorkspaceCommand:
    """A command in a workspace, running or ended."""

    def __init__(
        self, workspace: OpenWorkspace, number: int, ended: asyncio.Future[Answer], limits: SandboxLimits
    ) -> None:
        self._workspace, self._number, self._ended = workspace, number, ended
        self._limits = limits
        self._execution: asyncio.Task[SandboxResult] | None = None

    @property
    def is_running(self) -> bool:
        return not self._ended.done()

    async def send(self, data: bytes) -> None:
        """To its standard input; nothing closes it. What is sent to a program that has ended goes nowhere."""
        if self.is_running:
            await self._workspace.ask({"op": "send", "job": self._number}, data, timeout_seconds=None)

    async def signal(self, number: int) -> None:
        if self.is_running:
            await self._workspace.ask({"op": "signal", "job": self._number, "number": number})

    async def wait(self, timeout_seconds: float) -> SandboxResult | None:
        """An end by a signal of ours is `exited` with that signal."""
        done, _ = await asyncio.wait({self._ended}, timeout=timeout_seconds)
        if not done:
            return None
        if self._execution is None:
            self._execution = asyncio.create_task(self._told())
        return await asyncio.shield(self._execution)

    async def _told(self) -> SandboxResult:
        self._workspace.forget(self._number, is_ended=True)
        try:
            answer = self._ended.result()
        except WorkspaceLostError as error:
            return await self._workspace.lost(self._limits, error)
        return await self._workspace.executed(answer, self._limits)

    async def logs(self) -> tuple[bytes, bytes]:
        head: dict[str, Any] = {"job": None}
        if self.is_running:
            head, body = await self._workspace.ask({"op": "logs", "job": self._number})
        if head["job"] is None:
            done = await self.wait(10)
            return (done.stdout, done.stderr) if done else (b"", b"")
        output = parted(head["files"], body)
        return output["stdout"], output["stderr"]

    async def spent(self) -> Spent:
        head: dict[str, Any] = {"job": None}
        if self.is_running:
            head, _ = await self._workspace.ask({"op": "spent", "job": self._number})
        if head["job"] is None:
            done = await self.wait(10)
            return done.spent if done else Spent()
        return Spent(**head["spent"])

    def abandon(self) -> None:
        """End it and ask for nothing more."""
        self._workspace.forget(self._number, is_ended=self._ended.done())


def _check_command(command: Sequence[str], environment: Mapping[str, str] | None) -> None:
    texts = [*command, *(environment or {}), *(environment or {}).values()]
    if (
        not command
        or not command[0]
        or any("\0" in text for text in texts)
        or any("=" in key for key in environment or {})
    ):
        raise UserError(f"{list(command)!r} cannot be a command: it is empty, or holds a zero byte or a name with '='.")
