"""Small problems of every kind, and the workspaces their programs run in."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from proctor.benchmarks.problems.folder import read_problem
from proctor.domain.problem import Problem
from proctor.domain.workspace import Runner
from proctor.sandboxes.workspaces import bubblewrap, none

collect_ignore = ["problems"]
PROBLEMS = Path(__file__).parent / "problems"


def created_runner() -> Runner:
    """A real sandbox where there is one."""
    return bubblewrap.create() if shutil.which("bwrap") else none.create()


@pytest.fixture
def runner() -> Runner:
    return created_runner()


@pytest.fixture(scope="session")
def tally() -> Problem:
    return read_problem(PROBLEMS / "tally")


@pytest.fixture(scope="session")
def notes() -> Problem:
    return read_problem(PROBLEMS / "notes")


@pytest.fixture(scope="session")
def shelf() -> Problem:
    return read_problem(PROBLEMS / "shelf")


@pytest.fixture
def changed(tmp_path: Path) -> Callable[..., Problem]:
    """A copy of a problem with other files in it; None removes one."""

    def change(problem: Problem, files: dict[str, str | None]) -> Problem:
        folder = tmp_path / problem.id
        shutil.copytree(problem.folder, folder, dirs_exist_ok=True)
        for path, text in files.items():
            target = folder / path
            if text is None:
                target.unlink()
            else:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(text, encoding="utf-8")
        return read_problem(folder)

    return change
