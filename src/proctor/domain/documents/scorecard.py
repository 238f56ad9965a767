"""A program's scorecard: marks, requirements, measures, findings, phases and the program itself."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from datetime import datetime
from hashlib import blake2b

from proctor.domain.documents.document import Document
from proctor.domain.scorecard import DimensionMark, Evidence, RequirementStatus


class MarkedProblem(Document, frozen=True):
    id: str
    title: str
    version: str
    digest: str
    difficulty: str
    area: str
    kind: str
    pass_score: float


class RequirementResult(Document, frozen=True):
    id: str
    level: str
    text: str
    status: RequirementStatus
    checks: Sequence[str]
    """Names of checks, which the evidence holds."""


class ThresholdResult(Document, frozen=True):
    """A measure held against its bound; None where it was not measured."""

    measure: str
    bound: float
    unit: str
    is_upper: bool
    requirement: str | None
    value: float | None
    gold: float | None
    """The gold solution's."""
    ratio: float | None
    """The program's value by the gold solution's."""
    share: float | None
    is_met: bool | None


class CardFile(Document, frozen=True, rename={"size": "bytes"}):
    """A file, as text where it is text."""

    size: int
    """In bytes."""
    digest: str
    text: str | None = None
    base64: str | None = None

    @classmethod
    def of(cls, content: bytes) -> CardFile:
        digest = blake2b(content, digest_size=16).hexdigest()
        try:
            return cls(len(content), digest, text=content.decode("utf-8"))
        except UnicodeDecodeError:
            return cls(len(content), digest, base64=base64.b64encode(content).decode())

    @property
    def content(self) -> bytes:
        """The file as it was."""
        return base64.b64decode(self.base64 or "") if self.text is None else self.text.encode()


class ProgramCard(Document, frozen=True, kw_only=True):
    """A scorecard as every format of it shows it; what it is of stands first."""

    run_id: str | None = None
    model: str | None = None
    sample_id: str | None = None
    epoch: int | None = None
    submission_id: str | None = None
    name: str | None = None
    created_at: datetime | None = None
    problem: MarkedProblem
    total: float | None
    covers: float
    passed: bool
    reason: str
    grade: str | None
    dimensions: Sequence[DimensionMark]
    requirements: Sequence[RequirementResult]
    evidence: Evidence
    thresholds: Sequence[ThresholdResult]
    program: Mapping[str, CardFile]
    """Its files by path, where they are at hand."""
    left_out: Mapping[str, str]
    """What was handed in and not taken: path -> why."""
    artifacts: Mapping[str, CardFile]
    """What phases kept, by its key."""
    remarks: Sequence[str] | None = None
    """Where the marks are not those that were stored."""
    note: str | None = None

    @property
    def files(self) -> dict[str, bytes]:
        """The program's files, as they were handed in."""
        return {path: file.content for path, file in self.program.items()}
