"""A card that lacks a mark says why, in the words of the phase that was the cause."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from proctor.benchmarks.problems.folder import read_problem
from proctor.benchmarks.problems.scaffold import scaffold
from proctor.domain.problem import Problem, Threshold
from proctor.domain.scorecard import CheckResult, CheckStatus, Evidence, Phase, PhaseStatus
from proctor.programs.marks import scorecard_of


@pytest.fixture
def problem(tmp_path: Path) -> Problem:
    scaffold(tmp_path / "add-up")
    return read_problem(tmp_path / "add-up")


def evidence(problem: Problem, *phases: Phase, status: CheckStatus = CheckStatus.NOT_RUN) -> Evidence:
    checks = tuple(CheckResult(name, str(kind), status) for name, kind in problem.checks.items())
    return Evidence(problem.id, problem.digest, {}, phases, checks, {}, {}, {})


@pytest.mark.parametrize("name", ["validate", "build", "start", "readiness"])
def test_a_program_that_never_ran_is_told_why_before_anything_else(problem: Problem, name: str) -> None:
    phase = Phase(name, PhaseStatus.FAILED, 0.0, 0.1, "Python 3.11.2\nmain.py: invalid syntax (line 1).\n")
    reason = scorecard_of(problem, evidence(problem, phase)).reason
    cause = f"the phase '{name}' failed: main.py: invalid syntax (line 1); "
    assert reason == f"{cause}not every MUST requirement is verified: R1, R2, R3"


def test_a_program_that_ran_is_told_what_it_failed_only(problem: Problem) -> None:
    load = Phase("load", PhaseStatus.FAILED, 0.0, 0.1, "the service ended under load")
    build = Phase("build", PhaseStatus.DONE, 0.0, 0.1, "2 files compile")
    card = scorecard_of(problem, evidence(problem, build, load, status=CheckStatus.FAILED))
    assert card.reason == "not every MUST requirement is verified: R1, R2, R3"


def test_what_nobody_asked_for_is_said_to_be_so(problem: Problem) -> None:
    phases = [Phase(name, PhaseStatus.NOT_MEASURED, 0.0, 0.0, "not asked for") for name in ("load", "quality")]
    card = scorecard_of(problem, evidence(problem, *phases, status=CheckStatus.PASSED))
    reasons = {one.name: one.reason for one in card.dimensions}
    assert reasons["quality"] == "not asked for"
    assert reasons["performance"] == "nothing was measured: not asked for"
    read = replace(card.evidence, findings={"ruff": {"status": "not applicable", "reason": "there is no source"}})
    again = {one.name: one.reason for one in scorecard_of(problem, read).dimensions}
    assert again["quality"] == "there was nothing to read"


def test_a_threshold_that_was_not_measured_takes_its_part_of_the_weight_along(problem: Problem) -> None:
    bounds = (Threshold("work_seconds", 5.0, "s", is_upper=True), Threshold("peak_memory", 64.0, "MiB", is_upper=True))
    two = replace(problem, thresholds=bounds)
    plain = replace(evidence(problem, status=CheckStatus.PASSED), measures={"work_seconds": 1.0})
    card = scorecard_of(two, plain)
    mark = next(one for one in card.dimensions if one.name == "performance")
    whole = two.weights["performance"]
    assert (mark.value, mark.weight) == (1.0, whole / 2)
    assert mark.reason == "not measured: peak_memory at most 64 MiB"
    both = scorecard_of(two, replace(plain, measures={"work_seconds": 1.0, "peak_memory_mib": 20.0}))
    assert both.covers == pytest.approx(card.covers + whole / 2)
    assert both.total == pytest.approx((card.total or 0) + whole / 2)
