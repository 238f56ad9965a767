"""Problems as a benchmark: one sample each, scored by building, running and reading the program."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from msgspec import Struct

from proctor.benchmarks.problems.finding import all_problems, problem_folders
from proctor.benchmarks.problems.folder import entry_files
from proctor.benchmarks.problems.prompt import PROMPT_VERSION, problem_prompt
from proctor.domain.benchmark import Benchmark, Fingerprint, ScorerSpec
from proctor.domain.errors import BenchmarkError
from proctor.domain.message import Json
from proctor.domain.problem import Problem
from proctor.domain.sample import Sample
from proctor.domain.sample_digest import SampleDigest
from proctor.prompts.render import TemplateRenderer

NAME = "requirements"
MAX_ROUNDS = 10


class ProblemSamples(Struct, frozen=True, dict=True):
    """One sample a problem, the easy ones first; read when first asked for, and then kept as they were."""

    problems_folder: Path | None = None
    asks_for_tests: bool = False

    @cached_property
    def problems(self) -> tuple[Problem, ...]:
        return tuple(all_problems(self.problems_folder))

    def __iter__(self) -> Iterator[Sample]:
        return map(self.sample_of, self.problems)

    def __len__(self) -> int:
        return len(self.problems)

    def at(self, positions: Sequence[int]) -> Iterator[Sample]:
        return (self.sample_of(self.problems[position]) for position in positions)

    def fingerprint(self) -> Fingerprint:
        made = SampleDigest()
        for sample in self:
            made.add(sample)
        return made.fingerprint()

    def sample_of(self, problem: Problem) -> Sample:
        """The digest of the whole folder is part of the sample: a changed hidden test is another sample."""
        metadata: dict[str, Any] = {
            "problem": problem.id,
            "digest": problem.digest,
            "version": problem.version,
            "title": problem.title,
            "entries": list(entry_files(problem.interface)),
        }
        tags = {
            "difficulty": problem.difficulty,
            "area": problem.area,
            "kind": str(problem.interface.kind),
            "language": "any" if len(problem.interface.languages) > 1 else problem.interface.languages[0],
        }
        text = problem_prompt(problem, asks_for_tests=self.asks_for_tests)
        return Sample(problem.id, text, category=problem.area, tags=tags, metadata=metadata)


def requirements(
    *,
    folder: Path,
    problems: str | None = None,
    repair: int = 0,
    write_tests: bool = False,
    measure: bool = True,
    wheelhouse: str | None = None,
    index: str | None = None,
) -> Benchmark:
    """Programs built from written requirements: built, started, tested, loaded, scanned and read in a sandbox."""
    if not 0 <= repair <= MAX_ROUNDS:
        raise BenchmarkError(f"The parameter 'repair' of {NAME!r} is {repair}; it must be 0 to {MAX_ROUNDS} rounds.")
    problems_folder = None if problems is None else folder / problems
    if not problem_folders(problems_folder):
        raise BenchmarkError(f"There are no problems in {problems}: a problem is a folder with a problem.yaml.")
    # Without load and profile marking is quicker; performance is then not measured, and the total says so.
    how: dict[str, Json] = {} if measure else {"measures": False}
    how |= {} if wheelhouse is None else {"wheelhouse": _existing(folder / wheelhouse)}
    how |= {} if index is None else {"index_url": index}
    return Benchmark(
        name=NAME,
        samples=ProblemSamples(problems_folder, write_tests),
        renderer=TemplateRenderer(),
        scorers=(ScorerSpec("program", how), ScorerSpec("program_mark", how)),
        metrics=("accuracy", "program_mark.mean"),
        version=PROMPT_VERSION,
        options={"repair": repair} if repair else {},
        description="Programs to build from written requirements; all MUSTs and the pass mark are needed.",
        licence="Apache-2.0",
        source="built in" if problems is None else problems,
        tags={"language": "en", "subject": "programming", "task": "reasoning", "form": "code"},
        needs_sandbox=True,
    )


def _existing(folder: Path) -> str:
    if not folder.is_dir():
        raise BenchmarkError(f"The parameter 'wheelhouse' of {NAME!r} names no folder: {folder}.")
    return str(folder.resolve())
