"""Two scorecards of one problem side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from proctor.domain.documents.document import Document
from proctor.domain.documents.scorecard import MarkedProblem
from proctor.domain.scorecard import RequirementStatus


class ComparedCard(Document, frozen=True):
    total: float | None
    covers: float
    passed: bool
    grade: str | None
    reason: str
    verdict: str


class MarkDifference(Document, frozen=True):
    """Only like is subtracted: `difference` is None where the two marks are of different things."""

    name: str
    a: float | None
    b: float | None
    difference: float | None
    is_comparable: bool


class FlippedRequirement(Document, frozen=True):
    id: str
    level: str
    text: str
    a: RequirementStatus
    b: RequirementStatus


class MeasureDifference(Document, frozen=True):
    name: str
    a: float | None
    b: float | None


class FileDifference(Document, frozen=True):
    path: str
    state: Literal["added", "removed", "changed"]
    diff: str


class ScorecardDifference(Document, frozen=True):
    problem: MarkedProblem
    is_comparable: bool
    """Both were marked with the same version of the problem."""
    remarks: Sequence[str]
    a: ComparedCard
    b: ComparedCard
    dimensions: Sequence[MarkDifference]
    """The totals, what both measured where that is not everything, and each dimension."""
    requirements: Sequence[FlippedRequirement]
    measures: Sequence[MeasureDifference]
    files: Sequence[FileDifference]
