"""Builds a program in its place: files, packages, and a look whether every file can be read at all."""

from __future__ import annotations

import json
from collections.abc import Mapping

from proctor.domain.errors import ScorerError
from proctor.domain.problem import Problem
from proctor.domain.sandbox import SandboxResult
from proctor.domain.workspace import APP, WORK, Workspace
from proctor.programs.entry import DEPENDENCIES, JAVASCRIPT, NODE_MODULES, EntryPoint, sources
from proctor.programs.inside.sent import command
from proctor.programs.limits import command_limits
from proctor.programs.options import MarkOptions
from proctor.programs.packages.fetching import fetch_npm_packages, fetch_wheels
from proctor.programs.packages.package_set import BuildError, PackageSet

BUILD_SECONDS = 60.0
_ARCHIVES = f"{WORK}/packages"
# Asked before anything of the program has run: that it is missing is no fault of the program's.
_NOT_THERE = "There is no {} where programs run: install it there, or choose another runner."
_ABOUT = "import os, sys; print('%d.%d.%d' % sys.version_info[:3], os.environ.get('PATH', os.defpath), sep='\\n')"


class Builder:
    """Builds into one place; what it did is its log."""

    def __init__(
        self,
        problem: Problem,
        entry: EntryPoint,
        files: Mapping[str, bytes],
        workspace: Workspace,
        packages: PackageSet | None = None,
    ) -> None:
        self._problem = problem
        self._entry = entry
        self._files = files
        self._workspace = workspace
        self.packages = packages
        """What it needs besides; None until it was fetched."""
        self.log: list[str] = []
        self.pins: tuple[str, ...] = ()
        self.version = ""
        self._path = ""
        """Where commands are looked for in the workspace."""

    async def build(self, options: MarkOptions) -> None:
        """Raises BuildError when the program cannot be built."""
        await self._workspace.write(self._files)
        self.log.append(f"{len(self._files)} files, {sum(map(len, self._files.values()))} bytes")
        if self._entry.language == JAVASCRIPT:
            await self._build_javascript(options)
        else:
            await self._build_python(options)

    def environment(self) -> dict[str, str]:
        """What every command of the program gets."""
        environment = {"LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"}
        if self._has_environment:
            environment |= {"VIRTUAL_ENV": DEPENDENCIES, "PATH": f"{DEPENDENCIES}/bin:{self._path}"}
        return environment

    @property
    def _has_environment(self) -> bool:
        return bool(self.pins) and self._entry.language != JAVASCRIPT

    async def _build_javascript(self, options: MarkOptions) -> None:
        done = await self._execute(("node", "--version"))
        if not done.succeeded:
            raise ScorerError(f"{_NOT_THERE.format('Node.js (node)')} {_words(done)}")
        self.version = done.stdout.decode("ascii", "replace").strip().removeprefix("v")
        self.log.append(f"Node.js {self.version}")
        if self.packages is None:
            self.packages = await fetch_npm_packages(self._problem, self._files, options, self.version)
        if self.packages.archives:
            await self._unpack(self.packages, "building:unpack", NODE_MODULES)
        for path in sources(self._files, JAVASCRIPT):
            done = await self._execute(("node", "--check", path))
            if not done.succeeded:
                raise BuildError(f"{path} is not JavaScript: {_words(done)}")
        self.log.append("every file is JavaScript")

    async def _build_python(self, options: MarkOptions) -> None:
        done = await self._execute(("python3", "-c", _ABOUT))
        if not done.succeeded:
            raise ScorerError(f"{_NOT_THERE.format('Python (python3)')} {_words(done)}")
        self.version, _, path = done.stdout.decode("utf-8", "replace").strip().partition("\n")
        self._path = path.strip()
        self.log.append(f"Python {self.version}")
        if self.packages is None:
            self.packages = await fetch_wheels(self._problem, self._files, options, self.version)
        if self.packages.archives:
            await self._unpack(self.packages, "building:make_environment", DEPENDENCIES)
        await self._compile()

    async def _unpack(self, packages: PackageSet, how: str, target: str) -> None:
        """In the workspace: what is wrong with an archive harms nobody else."""
        await self._workspace.write(packages.archives, under=_ARCHIVES)
        paths = [f"{_ARCHIVES}/{name}" for name in sorted(packages.archives)]
        done = await self._execute(command(how, target, *paths))
        await self._workspace.empty(WORK)
        if not done.succeeded:
            raise BuildError(f"the packages could not be unpacked: {_words(done)}")
        self.pins = packages.pins
        self.log.append(f"installed {', '.join(packages.pins)}")

    async def _compile(self) -> None:
        paths = list(sources(self._files, "python"))
        done = await self._execute(command("building:compile_all", *paths))
        if not done.succeeded:
            raise BuildError(f"the files could not be compiled: {_words(done)}")
        wrong = json.loads(done.stdout)
        if wrong:
            raise BuildError("; ".join(f"{path}: {why}" for path, why in wrong.items()))
        self.log.append(f"{len(paths)} files compile")

    async def _execute(self, words: tuple[str, ...]) -> SandboxResult:
        return await self._workspace.execute(words, folder=APP, limits=command_limits(self._problem, BUILD_SECONDS))


def _words(done: SandboxResult) -> str:
    text = (done.stderr or done.stdout).decode("utf-8", "replace").strip()
    return f"{done.ending}, exit code {done.exit_code}: {text[-800:]}"
