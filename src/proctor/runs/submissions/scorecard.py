"""A program's scorecard as one document."""

from __future__ import annotations

from collections.abc import Mapping

from proctor.domain.documents.scorecard import (
    CardFile,
    MarkedProblem,
    ProgramCard,
    RequirementResult,
    ThresholdResult,
)
from proctor.domain.problem import Problem, Threshold
from proctor.domain.scorecard import Evidence, Scorecard
from proctor.programs.marks import MEASURED_AS, is_met, threshold_share


def program_card(
    card: Scorecard,
    problem: Problem,
    files: Mapping[str, bytes] | None = None,
    left_out: Mapping[str, str] | None = None,
    kept: Mapping[str, bytes] | None = None,
) -> ProgramCard:
    """What every format of a scorecard is made from; `files` is the program where it is at hand.

    `left_out` is what was handed in and not taken: path -> why. `kept` is what phases kept, by its key.
    """
    return ProgramCard(
        problem=_problem(problem),
        total=card.total,
        covers=card.covers,
        passed=card.passed,
        reason=card.reason,
        grade=card.grade,
        dimensions=card.dimensions,
        requirements=[
            RequirementResult(one.id, one.level, one.text, one.status, [check.name for check in one.checks])
            for one in card.requirements
        ],
        evidence=card.evidence,
        thresholds=[_threshold(one, card.evidence) for one in problem.thresholds],
        program={path: CardFile.of(content) for path, content in sorted((files or {}).items())},
        left_out=left_out or {},
        artifacts={key: CardFile.of(content) for key, content in (kept or {}).items()},
    )


def _problem(problem: Problem) -> MarkedProblem:
    return MarkedProblem(
        id=problem.id,
        title=problem.title,
        version=problem.version,
        digest=problem.digest,
        difficulty=problem.difficulty,
        area=problem.area,
        kind=str(problem.interface.kind),
        pass_score=problem.pass_score,
    )


def _threshold(threshold: Threshold, evidence: Evidence) -> ThresholdResult:
    name, factor = MEASURED_AS[threshold.measure]
    value, gold = evidence.measures.get(name), evidence.gold_measures.get(name)
    return ThresholdResult(
        measure=threshold.measure,
        bound=threshold.value,
        unit=threshold.unit,
        is_upper=threshold.is_upper,
        requirement=threshold.requirement,
        value=None if value is None else value * factor,
        gold=None if gold is None else gold * factor,
        ratio=None if value is None or not gold else value / gold,
        share=threshold_share(threshold, evidence),
        is_met=is_met(threshold, evidence),
    )
