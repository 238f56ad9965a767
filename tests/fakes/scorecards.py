"""Evidence made by hand, for tests of what follows from it."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from proctor.benchmarks.problems.finding import find_problem
from proctor.benchmarks.problems.folder import read_problem
from proctor.benchmarks.problems.scaffold import scaffold
from proctor.domain.problem import Problem
from proctor.domain.scorecard import PHASES, CheckResult, CheckStatus, Evidence, Phase, PhaseStatus
from proctor.domain.submission import Submission
from proctor.programs.archive import program_zip
from proctor.programs.marks import scorecard_of
from proctor.runs.submissions.stored import keep_submission
from proctor.stores.artifacts.folder import FolderArtifacts
from proctor.stores.database import open_database

HOSTILE = "<script>alert(1)</script> | `tick` ``` &amp; **bold** \x1b[31m"


def small_problem(folder: Path) -> Problem:
    """The scaffold, as a problem."""
    if not (folder / "add-up").exists():
        scaffold(folder / "add-up")
    return read_problem(folder / "add-up")


def evidence_of(problem: Problem, *failing: str, message: str = "assert 3 == 4") -> Evidence:
    """Everything measured; these checks fail."""
    checks = tuple(
        CheckResult(
            name,
            str(kind),
            CheckStatus.FAILED if name in failing else CheckStatus.PASSED,
            message if name in failing else "",
            0.25,
        )
        for name, kind in problem.checks.items()
    )
    own = CheckResult("tests/test_main.py::test_it", "own", CheckStatus.PASSED, "", 0.1, is_generated=True)
    ran = {"status": "ran", "version": "1.2.3", "count": 0, "findings": []}
    found = {"file": "main.py", "line": 3, "code": "B101", "severity": "LOW", "confidence": "HIGH", "message": message}
    return Evidence(
        problem=problem.id,
        problem_digest=problem.digest,
        runner={"runner": "bubblewrap", "version": "0.8.0", "is_isolated": True, "limits": {"processes": 64}},
        phases=tuple(
            Phase(name, PhaseStatus.DONE, 1.7e9 + place, 0.5 + place, f"log of {name}", {}, {"x.log": "ab" * 20})
            for place, name in enumerate(PHASES)
        ),
        checks=(*checks, own),
        measures={"work_seconds": 1.5, "peak_memory_mib": 30.25},
        gold_measures={"work_seconds": 1.0, "peak_memory_mib": 29.5},
        findings={
            "bandit": {**ran, "count": 1, "findings": [found]},
            "place": {"status": "ran", "version": None, "violations": {}, "egress": {}, "writes": {}},
            "trivy": {"status": "not run", "version": None, "reason": "trivy is not on this machine"},
            "ruff": {**ran, "lines": 40},
            "black": {**ran, "files": 1, "formatted": 1},
            "mypy": {**ran, "lines": 40},
            "complexity": {**ran, "functions": 3, "simple": 3},
            "docstrings": {**ran, "public": 3, "documented": 3},
            "duplication": {**ran, "lines": 40, "repeated": 0},
        },
        program=None,
    )  # fmt: skip


def unmeasured(evidence: Evidence) -> Evidence:
    """The same without any measure or finding."""
    return replace(evidence, measures={}, gold_measures={}, findings={})


def keep_program(
    home: Path, name: str, *failing: str, message: str = "assert 3 == 4", text: bytes = b"print(1)"
) -> str:
    """A program for `columns`, in the home of a server, whose checks fail as given; gives the submission's id."""
    artifacts = FolderArtifacts(home / "artifacts")
    problem = find_problem("columns", None)
    files = {"main.py": text}
    evidence = replace(evidence_of(problem, *failing, message=message), program=artifacts.put("", program_zip(files)))
    database = open_database(f"sqlite:///{home / 'proctor.db'}")
    try:
        card = scorecard_of(problem, evidence)
        kept = keep_submission(database, artifacts, name, problem, Submission(files, "folder"), card)
    finally:
        database.dispose()
    assert kept.submission_id is not None
    return kept.submission_id
