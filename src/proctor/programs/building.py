"""Builds a program in its place: files, packages, and a look whether every file can be read at all."""

from __future__ import annotations

import json
from collections.abc import Mapping

from proctor.domain.errors import ScorerError
from proctor.domain.problem import Problem
from proctor.domain.sandbox import SandboxResult
from proctor.domain.workspace import APP, WORK, Workspace
from proctor.programs.dependencies import BuildError, Wheels, fetched
from proctor.programs.entry import DEPENDENCIES, JAVASCRIPT, EntryPoint, sources
from proctor.programs.inside.sent import command
from proctor.programs.limits import command_limits
from proctor.programs.options import MarkOptions

BUILD_SECONDS = 60.0
_WHEELS = f"{WORK}/wheels"
# Asked before anything of the program has run: that it is missing is no fault of the program's.
_NOT_THERE = "There is no {} where programs run: install it there, or choose another runner."
_VERSION = "import sys; print('%d.%d.%d' % sys.version_info[:3])"


class Builder:
    """Builds into one place; what it did is its log."""

    def __init__(
        self,
        problem: Problem,
        entry: EntryPoint,
        files: Mapping[str, bytes],
        workspace: Workspace,
        wheels: Wheels | None = None,
    ) -> None:
        self._problem = problem
        self._entry = entry
        self._files = files
        self._workspace = workspace
        self.wheels = wheels
        """What it needs besides; None until it was fetched."""
        self.log: list[str] = []
        self.pins: tuple[str, ...] = ()
        self.version = ""

    async def build(self, options: MarkOptions) -> None:
        """Raises BuildError when the program cannot be built."""
        await self._workspace.write(self._files)
        self.log.append(f"{len(self._files)} files, {sum(map(len, self._files.values()))} bytes")
        if self._entry.language == JAVASCRIPT:
            await self._build_javascript()
        else:
            await self._build_python(options)

    def environment(self) -> dict[str, str]:
        """What every command of the program gets."""
        environment = {"LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"}
        if self.pins:
            environment["PYTHONPATH"] = DEPENDENCIES
        return environment

    async def _build_javascript(self) -> None:
        done = await self._execute(("node", "--version"))
        if not done.succeeded:
            raise ScorerError(f"{_NOT_THERE.format('Node.js (node)')} {_words(done)}")
        self.version = done.stdout.decode("ascii", "replace").strip().removeprefix("v")
        self.log.append(f"Node.js {self.version}")
        self._refuse_npm_packages()
        for path in sources(self._files, JAVASCRIPT):
            done = await self._execute(("node", "--check", path))
            if not done.succeeded:
                raise BuildError(f"{path} is not JavaScript: {_words(done)}")
        self.log.append("every file is JavaScript")

    def _refuse_npm_packages(self) -> None:
        try:
            described = json.loads(self._files.get("package.json", b"{}"))
        except (ValueError, RecursionError) as error:
            raise BuildError(f"package.json is not JSON: {error}") from None
        wanted = described.get("dependencies") if isinstance(described, dict) else None
        if wanted:
            names = ", ".join(sorted(map(str, wanted))) if isinstance(wanted, dict) else json.dumps(wanted)
            raise BuildError(f"package.json asks for {names[:200]}: no npm packages are installed")

    async def _build_python(self, options: MarkOptions) -> None:
        done = await self._execute(("python3", "-c", _VERSION))
        if not done.succeeded:
            raise ScorerError(f"{_NOT_THERE.format('Python (python3)')} {_words(done)}")
        self.version = done.stdout.decode("ascii", "replace").strip()
        self.log.append(f"Python {self.version}")
        if self.wheels is None:
            self.wheels = await fetched(self._problem, self._files, options, self.version)
        if self.wheels.files:
            await self._install(self.wheels)
        await self._compile()

    async def _install(self, wheels: Wheels) -> None:
        await self._workspace.write(wheels.files, under=_WHEELS)
        paths = [f"{_WHEELS}/{name}" for name in sorted(wheels.files)]
        done = await self._execute(command("building:unpack", DEPENDENCIES, *paths))
        await self._workspace.empty(WORK)
        if not done.succeeded:
            raise BuildError(f"the packages could not be unpacked: {_words(done)}")
        self.pins = wheels.pins
        self.log.append(f"installed {', '.join(wheels.pins)}")

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
