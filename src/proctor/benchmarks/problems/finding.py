"""Which problems there are: the built-in ones, or those of a folder of the user's own."""

from __future__ import annotations

from pathlib import Path

from proctor.benchmarks.problems.folder import FILE, read_problem
from proctor.domain.errors import NotFoundError, did_you_mean
from proctor.domain.problem import Problem

BUILT_IN = Path(__file__).parent.parent.parent / "catalog" / "problems"


def problem_folders(problems_folder: Path | None = None) -> dict[str, Path]:
    """Folders with a problem.yaml, by name; it may also be one problem's own folder."""
    top = problems_folder or BUILT_IN
    if (top / FILE).is_file():
        return {top.resolve().name: top}
    if not top.is_dir():
        raise NotFoundError(f"There is no folder {top} with problems in it.")
    return {path.parent.name: path.parent for path in sorted(top.glob(f"*/{FILE}"))}


def find_problem(name: str, problems_folder: Path | None = None) -> Problem:
    """A problem by its id, or by the path of its folder."""
    known = problem_folders(problems_folder)
    if name in known:
        return read_problem(known[name])
    if (Path(name) / FILE).is_file():
        return read_problem(Path(name))
    if Path(name).is_dir():
        raise NotFoundError(f"There is no {FILE} in {name}: a problem is a folder with that file in it.")
    raise NotFoundError(f"No problem {name!r}.{did_you_mean(name, known)} Run 'proctor problems'.")


def all_problems(problems_folder: Path | None = None) -> list[Problem]:
    """Every problem of a folder, by difficulty, then by name."""
    from proctor.domain.problem import DIFFICULTIES

    found = [read_problem(folder) for folder in problem_folders(problems_folder).values()]
    return sorted(found, key=lambda problem: (DIFFICULTIES.index(problem.difficulty), problem.id))
