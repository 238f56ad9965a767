"""Evidence and scorecards as plain JSON, and evidence back again: marks are computed from what was stored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import to_builtins

from proctor.domain.errors import ScorerError
from proctor.domain.message import Json
from proctor.domain.scorecard import CheckResult, CheckStatus, Evidence, Phase, PhaseStatus, Scorecard


def evidence_to_json(evidence: Evidence) -> dict[str, Json]:
    data: dict[str, Json] = to_builtins(evidence)
    return data


def evidence_from_json(data: Mapping[str, Any]) -> Evidence:
    """What `evidence_to_json` wrote; a ScorerError where it is something else."""
    try:
        return Evidence(
            problem=data["problem"],
            problem_digest=data["problem_digest"],
            runner=data["runner"],
            phases=tuple(Phase(**{**one, "status": PhaseStatus(one["status"])}) for one in data["phases"]),
            checks=tuple(CheckResult(**{**one, "status": CheckStatus(one["status"])}) for one in data["checks"]),
            measures=data["measures"],
            gold_measures=data["gold_measures"],
            findings=data["findings"],
            program=data["program"],
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ScorerError(f"This is not the evidence of a marking: {error!r}.") from error


def scorecard_to_json(card: Scorecard) -> dict[str, Json]:
    """The marks and the evidence they follow from."""
    return {
        "total": card.total,
        "covers": card.covers,
        "passed": card.passed,
        "reason": card.reason,
        "grade": card.grade,
        "dimensions": to_builtins(card.dimensions),
        "requirements": [
            {
                "id": one.id,
                "level": one.level,
                "text": one.text,
                "status": str(one.status),
                "checks": [check.name for check in one.checks],
            }
            for one in card.requirements
        ],
        "evidence": evidence_to_json(card.evidence),
    }
