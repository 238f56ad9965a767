"""What is, or would be, removed because of its age."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from proctor.domain.documents.document import Document


class ExpiredRunFigures(Document, frozen=True):
    run_id: str
    project: str
    name: str | None
    status: str
    finished_at: str
    responses: int


class RetentionFigures(Document, frozen=True):
    is_dry_run: bool
    days: float | None
    """Of projects that say nothing themselves; None where their runs are kept for good."""
    runs: Sequence[ExpiredRunFigures]
    months: Sequence[int]
    """Of PostgreSQL's partitions, those that no run is left in: 202611 is November 2026."""
    asks: int
    """Side by side, with their answers, files and votes."""
    submissions: int
    """Programs, with their artifacts."""
    cached: int
    """Answers that were kept for judges."""
    artifacts: int
    """Removed with their runs, or without owner."""
    artifact_bytes: int
    notes: Sequence[str]


class RetentionRules(Document, frozen=True):
    project: str
    days: Mapping[str, float | None]
    """Kind (runs, asks, submissions, cache) -> how long it is kept; null for as long as nobody deletes it."""
