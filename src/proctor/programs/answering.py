"""The harness' side of a check: what the checker asks for is done in the workspace, and nothing else is."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from proctor.domain.errors import UserError, WorkspaceSpentError
from proctor.domain.problem import Problem
from proctor.domain.sandbox import SandboxResult
from proctor.domain.workspace import WORK, Process, Workspace
from proctor.programs.entry import EntryPoint
from proctor.programs.hosting import Hosted
from proctor.programs.limits import command_limits
from proctor.scorers.code.validation import path_problem

MAX_JOBS = 64


class CheckRefusedError(ValueError):
    """A test asked for something that makes no sense; the test hears it as a ValueError."""


class CheckRequests:
    """Does what a check asks for, by name; a SandboxError means that the workspace itself failed."""

    def __init__(
        self,
        problem: Problem,
        entry: EntryPoint,
        workspace: Workspace,
        environment: Mapping[str, str],
        hosted: Hosted | None,
        wrapped: Sequence[str] = (),
    ) -> None:
        self._problem = problem
        self._entry = entry
        self._workspace = workspace
        self._environment = environment
        self.hosted = hosted
        self._wrapped = tuple(wrapped)
        """Stands in for `python3` where the program is run under something, a profiler for example."""
        self._jobs: list[Process] = []
        self.cpu_seconds: float | None = 0.0
        """Of the commands run so far; None once one of them could not be measured."""
        self.peak_memory_bytes: int | None = 0

    async def answer(self, do: str, fields: Mapping[str, Any]) -> Any:
        method = getattr(self, f"do_{do}", None)
        if method is None:
            raise CheckRefusedError(f"a program of this kind has no {do!r}")
        return await method(**fields)

    async def do_begin(self) -> Any:
        await self.end_jobs()
        await self._workspace.empty(WORK)
        if self.hosted is None:
            return None
        problem = "" if self.hosted.is_running else await self.hosted.restart()
        return self._where(problem)

    async def end_jobs(self) -> None:
        jobs, self._jobs = self._jobs, []
        for job in jobs:
            if job.is_running:
                await job.signal(9)
            self._count(await job.wait(5))

    async def do_fresh(self) -> None:
        await self._workspace.empty(WORK)

    async def do_write(self, path: str, data: bytes) -> None:
        await self._workspace.write({_plain(path): data}, under=WORK)

    async def do_read(self, path: str) -> bytes | None:
        found = await self._workspace.read([f"{WORK}/{_plain(path)}"])
        return next(iter(found.values()), None)

    async def do_list(self) -> dict[str, int]:
        return dict(await self._workspace.list(WORK))

    async def do_run(
        self, arguments: list[str], stdin: bytes, files: dict[str, bytes], env: dict[str, str], seconds: float
    ) -> Any:
        await self._lay(files)
        done = await self._workspace.execute(
            self._command(arguments),
            stdin=stdin,
            environment={**self._environment, **env},
            limits=command_limits(self._problem, seconds),
        )
        self._count(done)
        return _done(done)

    async def do_start(self, arguments: list[str], files: dict[str, bytes], env: dict[str, str], seconds: float) -> int:
        if len(self._jobs) >= MAX_JOBS:
            raise CheckRefusedError(f"more than {MAX_JOBS} commands in one check")
        await self._lay(files)
        job = await self._workspace.start(
            self._command(arguments),
            environment={**self._environment, **env},
            limits=command_limits(self._problem, seconds),
        )
        self._jobs.append(job)
        return len(self._jobs) - 1

    async def do_send(self, job: int, data: bytes) -> None:
        await self._jobs[job].send(data)

    async def do_signal(self, job: int, number: int) -> None:
        await self._jobs[job].signal(number)

    async def do_out(self, job: int) -> Any:
        out, err = await self._jobs[job].logs()
        return {"out": out, "err": err}

    async def do_wait(self, job: int, seconds: float) -> Any:
        done = await self._jobs[job].wait(seconds)
        return None if done is None else _done(done)

    async def do_restart(self, *, fresh: bool) -> Any:
        return self._where(await self._listening().restart(is_fresh=fresh))

    async def do_kill(self) -> None:
        await self._listening().kill()

    async def do_terminate(self, seconds: float) -> Any:
        done = await self._listening().terminate(seconds)
        return None if done is None else _done(done)

    async def do_logs(self) -> bytes:
        return await self._listening().logs()

    async def do_connect(self) -> Any:
        hosted = self._listening()
        return self._where("" if hosted.is_running else await hosted.restart())

    def _where(self, problem: str) -> Any:
        reach = self._listening().reach
        return {"host": reach.host if reach else "", "port": reach.port if reach else 0, "problem": problem}

    def _listening(self) -> Hosted:
        if self.hosted is None:
            raise CheckRefusedError("a command is run or started; it has nothing that listens")
        return self.hosted

    def _command(self, arguments: list[str]) -> tuple[str, ...]:
        command = self._entry.command(*arguments)
        return (*self._wrapped, *command[1:]) if self._wrapped else command

    async def _lay(self, files: Mapping[str, bytes]) -> None:
        if files:
            await self._workspace.write({_plain(path): data for path, data in files.items()}, under=WORK)

    def _count(self, done: SandboxResult | None) -> None:
        spent = done.spent if done is not None else None
        cpu = spent.cpu_seconds if spent else None
        peak = spent.peak_memory_bytes if spent else None
        self.cpu_seconds = None if cpu is None or self.cpu_seconds is None else self.cpu_seconds + cpu
        self.peak_memory_bytes = (
            None if peak is None or self.peak_memory_bytes is None else max(self.peak_memory_bytes, peak)
        )


def _plain(path: str) -> str:
    problem = path_problem(path)
    if problem:
        raise CheckRefusedError(f"the path {path[:80]!r}: {problem}")
    return path


def _done(done: SandboxResult) -> dict[str, Any]:
    code = done.exit_code if done.ending == "exited" else None
    return {
        "code": code,
        "ending": str(done.ending),
        "out": done.stdout,
        "err": done.stderr,
        "seconds": done.spent.seconds,
    }


async def answered(answers: CheckRequests, message: Mapping[str, Any], turn: asyncio.Lock) -> dict[str, Any]:
    """One question's answer; the turn keeps a service from being restarted twice at once."""
    do, fields = str(message["do"]), message["with"]
    try:
        if do in ("begin", "restart", "connect"):
            async with turn:
                return {"id": message["id"], "value": await answers.answer(do, fields)}
        return {"id": message["id"], "value": await answers.answer(do, fields)}
    except (CheckRefusedError, UserError, WorkspaceSpentError) as error:
        # A workspace the program used up refuses everything from then on: each check that needs it fails by itself.
        return {"id": message["id"], "refused": str(error)}
