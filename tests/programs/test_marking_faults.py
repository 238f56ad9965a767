"""Faults beside a marking: whose they are, what they end, and what is kept all the same."""

from __future__ import annotations

import asyncio
import io
import zipfile
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from proctor.domain.errors import SandboxError, ScorerError
from proctor.domain.problem import Problem
from proctor.domain.sandbox import Ending, SandboxResult
from proctor.domain.submission import MAX_FILES
from proctor.domain.workspace import Runner, Seen, Workspace, WorkspaceLimits
from proctor.programs.marking import mark
from proctor.programs.options import MarkOptions
from proctor.programs.turns import WAIT_SECONDS
from programs.programs import Kept, marked, phase, text

READ = MarkOptions(is_measuring=False)


class WatchedRunner:
    """A runner that gives real workspaces, altered as a test wants, and keeps in which order they were closed."""

    name = "places"
    is_isolated = True

    def __init__(self, runner: Runner, alter: Callable[[WatchedRunner, int, Workspace], Workspace]) -> None:
        self._runner = runner
        self._alter = alter
        self._opened = 0
        self.closed: list[int] = []
        self.has_two = asyncio.Event()

    async def open(self, limits: WorkspaceLimits = WorkspaceLimits()) -> Workspace:  # noqa: B008  frozen
        self._opened += 1
        number = self._opened
        workspace = await self._runner.open(limits)
        if number == 2:
            self.has_two.set()
        return self._alter(self, number, workspace)

    async def close(self) -> None:
        await self._runner.close()


class Altered:
    """A real workspace, with some of its methods replaced."""

    def __init__(self, workspace: Workspace, **methods: Callable[..., Awaitable[Any]]) -> None:
        self._workspace = workspace
        self._methods = methods

    def __getattr__(self, name: str) -> Any:
        return self._methods.get(name) or getattr(self._workspace, name)


def test_own_tests_that_cannot_be_prepared_cost_the_program_nothing(tally: Problem, runner: Runner) -> None:
    async def has_no_python(command: Sequence[str], **_: Any) -> SandboxResult:
        return SandboxResult(Ending.EXITED, exit_code=127, stderr=b"not found")

    def second_is_bare(_: WatchedRunner, number: int, workspace: Workspace) -> Any:
        return Altered(workspace, execute=has_no_python) if number == 2 else workspace

    card = marked(tally, tally.solution, WatchedRunner(runner, second_is_bare), READ)
    coverage = card.evidence.findings["coverage"]
    assert (coverage["status"], "no Python" in coverage["reason"]) == ("not run", True)
    assert str(phase(card, "quality").status) == "done"


@pytest.mark.parametrize("kind", [SandboxError, ScorerError])
def test_what_runs_beside_a_fault_is_ended_before_the_place_is_closed(
    kind: type[Exception], tally: Problem, runner: Runner
) -> None:
    async def run() -> list[int]:
        workspaces = WatchedRunner(runner, watched)
        with pytest.raises(kind, match="nobody looked") as told:
            await mark(tally, tally.solution, workspaces, options=READ)
        assert isinstance(told.value.__cause__, OSError)
        assert asyncio.all_tasks() == {asyncio.current_task()}
        return workspaces.closed

    def watched(workspaces: WatchedRunner, number: int, workspace: Workspace) -> Any:
        async def seen() -> Seen:
            await workspaces.has_two.wait()
            raise kind("nobody looked") from OSError("gone")

        async def close() -> None:
            await workspace.close()
            workspaces.closed.append(number)

        return Altered(workspace, close=close, **({"seen": seen} if number == 1 else {}))

    assert asyncio.run(run()) == [2, 1]


@pytest.mark.parametrize("files", [{"main.py": b"\x00"}, text(other_py="print(3)")])
def test_a_refused_program_is_kept(files: dict[str, bytes], tally: Problem, runner: Runner) -> None:
    kept = Kept()
    card = marked(tally, files, runner, artifacts=kept)
    assert str(phase(card, "validate").status) == "failed"
    assert card.evidence.program is not None
    with zipfile.ZipFile(io.BytesIO(kept.files["program.zip"])) as made:
        assert {name: made.read(name) for name in made.namelist()} == files


@pytest.mark.parametrize("files", [{}, {"../main.py": b""}, {f"{number}.py": b"" for number in range(MAX_FILES + 1)}])
def test_what_no_program_may_be_is_not_kept(files: dict[str, bytes], tally: Problem, runner: Runner) -> None:
    kept = Kept()
    card = marked(tally, files, runner, artifacts=kept)
    assert (card.evidence.program, kept.files) == (None, {})


class Nowhere:
    """Has no workspaces, and keeps how long they were to last."""

    name = "nowhere"
    is_isolated = True

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def open(self, limits: WorkspaceLimits = WorkspaceLimits()) -> Workspace:  # noqa: B008  frozen
        self.seconds.append(limits.seconds)
        raise SandboxError("there is no room")

    async def close(self) -> None: ...


def test_waiting_for_the_load_is_not_the_programs_time(tally: Problem) -> None:
    def seconds(problem: Problem, options: MarkOptions) -> list[float]:
        runner = Nowhere()
        with pytest.raises(SandboxError, match="no room"):
            asyncio.run(mark(problem, problem.solution, runner, options=options))
        return runner.seconds

    assert seconds(tally, MarkOptions(place_seconds=50)) == [50 + WAIT_SECONDS]
    assert seconds(tally, MarkOptions(place_seconds=50, is_measuring=False)) == [50]
    assert seconds(replace(tally, load=None), MarkOptions(place_seconds=50)) == [50]
