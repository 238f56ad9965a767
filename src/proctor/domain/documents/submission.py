"""Programs that were marked, listed and ranked."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from msgspec import UNSET, UnsetType

from proctor.domain.documents.document import Document
from proctor.domain.documents.scorecard import ProgramCard


class MarkedProgram(Document, frozen=True, kw_only=True):
    """A program that was handed in, or a model's answer in a run."""

    rank: int | UnsetType | None = UNSET
    """In a ranking; None of a program without a mark."""
    kind: Literal["submission", "trial"]
    submission_id: str | None = None
    run_id: str | None = None
    name: str
    epoch: int | None = None
    problem: str
    total: float | None
    covers: float | None
    """None where there was no program, which gets 0."""
    passed: bool
    grade: str | None
    is_forgeable: bool
    problem_digest: str
    revision: str
    """Of the formula that the marks were computed with."""
    created_at: datetime


class RankedProblem(Document, frozen=True):
    id: str
    title: str
    version: str
    digest: str


class ProgramsApart(Document, frozen=True):
    """Marks by another revision of the formula, or of another version of the problem."""

    revision: str
    problem_digest: str
    entries: Sequence[MarkedProgram]


class ProgramRanking(Document, frozen=True):
    problem: RankedProblem
    revision: str
    ranked: Sequence[MarkedProgram]
    apart: Sequence[ProgramsApart]


class ServedSubmission(Document, frozen=True):
    """A program that was handed in over the API, and its scorecard once it has one."""

    submission_id: str
    problem: str
    name: str
    status: str
    """queued, running, completed or failed."""
    created_at: str
    error: str | None = None
    """Why it could not be marked."""
    card: ProgramCard | None = None


class WaitingSubmissions(Document, frozen=True):
    """Programs that are not marked yet, or could not be, newest first."""

    items: Sequence[ServedSubmission]
    next: str | None
