"""Marks of one revision are comparable: a formula that changes takes another revision along."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from fakes.scorecards import evidence_of, small_problem, unmeasured
from proctor.domain.identity import digest
from proctor.domain.problem import Threshold
from proctor.domain.scorecard import Evidence, Phase, PhaseStatus
from proctor.programs.marks import scorecard_of
from proctor.programs.scorer import REVISION

MARKS = {"3": "80ce379245d7ddffe61c4897cdc4ed22"}
"""By revision, a digest of the marks that these pieces of evidence come to."""


def kinds(whole: Evidence) -> list[Evidence]:
    """Each asks another part of the formulas."""
    absent = {"status": "not run", "version": None, "reason": "it failed"}
    found = dict(whole.findings)
    workspace = {"status": "ran", "violations": {"mount": 2}, "egress": {"10.0.0.1": 1}, "writes": {"/etc/x": 1}}
    weak = {"severity": "HIGH", "confidence": "MEDIUM", "file": "main.py", "line": 1, "code": "B1", "message": ""}
    ran = {"status": "ran", "version": "1"}
    ugly = {
        "ruff": {**ran, "count": 3, "lines": 60},
        "black": {**ran, "files": 3, "formatted": 1},
        "mypy": {**ran, "count": 2, "lines": 60},
        "oxlint": {**ran, "count": 1, "lines": 60},
        "oxfmt": {**ran, "files": 4, "formatted": 1},
        "complexity": {**ran, "functions": 4, "simple": 3},
        "docstrings": {**ran, "public": 8, "documented": 2},
        "duplication": {**ran, "lines": 40, "repeated": 6},
    }
    failed = tuple(Phase("load", PhaseStatus.FAILED, 0.0, 1.0) if one.name == "load" else one for one in whole.phases)
    return [
        whole,
        unmeasured(whole),
        replace(whole, findings={**found, **ugly}),
        replace(whole, findings={**found, **ugly, "oxlint": {**ugly["oxlint"], "share": 0.25}}),
        replace(whole, findings={**found, **ugly, "mypy": {**absent, "share": 0.75}}),
        replace(whole, findings={**found, "mypy": absent, "pip-audit": absent}),
        replace(whole, findings={**found, "pip-audit": {**ran, "count": 1}, "place": workspace}),
        replace(whole, findings={**found, "pip-audit": {**ran, "count": 0, "share": 0.25, "skipped": {"x": ""}}}),
        replace(whole, findings={**found, "bandit": {**ran, "count": 1, "findings": [weak]}, "place": absent}),
        replace(whole, measures={"work_seconds": 2.0, "peak_memory_mib": 300.0}),
        replace(whole, measures={"work_seconds": 2.0}),
        replace(whole, measures={}, phases=failed),
    ]


def test_another_formula_is_another_revision(tmp_path: Path) -> None:
    more = (Threshold("peak_memory", 128.0, "MiB", True), Threshold("throughput", 0.5, "gold", False))
    whole = small_problem(tmp_path)
    problem = replace(whole, thresholds=(*whole.thresholds, *more))
    names = list(problem.checks)
    every = [
        *kinds(evidence_of(problem)),
        *(evidence_of(problem, name) for name in names),
        evidence_of(problem, *names),
    ]
    cards = [scorecard_of(problem, evidence) for evidence in every]
    marks = [
        [
            [[one.name, one.value, one.weight] for one in card.dimensions],
            [card.total, card.covers, card.passed, card.grade],
        ]
        for card in cards
    ]
    rounded = digest([_rounded(one) for one in marks])
    assert MARKS.get(REVISION) == rounded, "marks have changed: raise REVISION, and note the digest beside it"


def _rounded(value: object) -> object:
    if isinstance(value, list):
        return [_rounded(one) for one in value]
    return round(value, 6) if isinstance(value, float) else value
