"""A program in its place: built, started, stopped, closed; the submission and the gold solution alike."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager

from proctor.domain.problem import InterfaceKind, Problem
from proctor.domain.workspace import APP, Runner, Seen, Workspace, together
from proctor.programs.answering import CheckRequests
from proctor.programs.building import Builder
from proctor.programs.entry import PYTHON, EntryPoint
from proctor.programs.hosting import DATA, Hosted, ServiceCommand
from proctor.programs.inside.sent import command
from proctor.programs.limits import command_limits, place_limits
from proctor.programs.options import MarkOptions
from proctor.programs.packages.package_set import PackageSet

LIBRARY_SECONDS = 10.0
PROFILES = f"{APP}/.profile"
PROFILE = f"{PROFILES}/python.pstats"


class Subject:
    def __init__(
        self,
        problem: Problem,
        files: Mapping[str, bytes],
        entry: EntryPoint,
        runner: Runner,
        workspace: Workspace,
        options: MarkOptions,
        packages: PackageSet | None = None,
    ) -> None:
        self.problem = problem
        self.files = files
        self.entry = entry
        self.workspace = workspace
        self.options = options
        self.builder = Builder(problem, entry, files, workspace, packages)
        self.hosted: Hosted | None = None
        self._runner = runner
        self._seen: list[Seen] = []

    @classmethod
    async def open(
        cls,
        problem: Problem,
        files: Mapping[str, bytes],
        entry: EntryPoint,
        runner: Runner,
        options: MarkOptions,
        packages: PackageSet | None = None,
    ) -> Subject:
        workspace = await runner.open(place_limits(problem, options.place_seconds))
        return cls(problem, files, entry, runner, workspace, options, packages)

    @asynccontextmanager
    async def anew(self) -> AsyncIterator[Subject]:
        """The same program, built in a workspace of its own, where nothing is left of what it did before."""
        other = await Subject.open(
            self.problem, self.files, self.entry, self._runner, self.options, self.builder.packages
        )
        try:
            await other.build()
            yield other
            self._seen.append(await other.workspace.seen())
        finally:
            await other.close()

    async def seen(self) -> Seen:
        """What its workspaces saw, all of them together."""
        return together([*self._seen, await self.workspace.seen()])

    @property
    def is_listening(self) -> bool:
        return self.problem.interface.kind is not InterfaceKind.COMMAND

    async def build(self) -> None:
        await self.builder.build(self.options)

    async def start(self, *, is_profiled: bool = False) -> None:
        """Start what listens; a command has nothing that does."""
        if self.is_listening:
            self.hosted = Hosted(self.workspace, self._listening(is_profiled=is_profiled))
            await self.hosted.start()

    async def ready(self) -> str:
        return await self.hosted.ready() if self.hosted is not None else ""

    async def stop(self) -> None:
        if self.hosted is not None and self.hosted.is_running:
            await self.hosted.stop()

    async def close(self) -> None:
        await self.workspace.close()

    def answers(self, wrapped: Sequence[str] = ()) -> CheckRequests:
        return CheckRequests(self.problem, self.entry, self.workspace, self.builder.environment(), self.hosted, wrapped)

    def profiled(self) -> tuple[str, ...]:
        """What stands in for the interpreter when a program is profiled."""
        if self.entry.language == PYTHON:
            return command("profiled:main", PROFILE)
        return ("node", "--cpu-prof", "--cpu-prof-dir", PROFILES)

    def _listening(self, *, is_profiled: bool) -> ServiceCommand:
        interface = self.problem.interface
        limits = command_limits(self.problem, self.options.place_seconds)
        common = self.builder.environment()
        if interface.kind is InterfaceKind.LIBRARY:
            profile = (PROFILE,) if is_profiled else ()
            return ServiceCommand(
                lambda port: command("serving:main", str(port), APP, str(interface.module), *profile),
                lambda _: common,
                "",
                LIBRARY_SECONDS,
                limits,
            )
        words = self.entry.command()
        started = (*self.profiled(), *words[1:]) if is_profiled else words
        return ServiceCommand(
            lambda _: started,
            lambda port: {**common, "PORT": str(port), "DATA_DIR": DATA},
            interface.ready_path,
            interface.ready_seconds,
            limits,
        )
