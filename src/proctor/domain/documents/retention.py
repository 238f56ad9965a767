"""What is, or would be, removed because of its age."""

from __future__ import annotations

from collections.abc import Sequence

from proctor.domain.documents.document import Document


class ExpiredRunFigures(Document, frozen=True):
    run_id: str
    name: str | None
    status: str
    finished_at: str
    responses: int


class RetentionFigures(Document, frozen=True):
    is_dry_run: bool
    days: float | None
    """None where runs are kept for good: then only artifacts without owner go."""
    runs: Sequence[ExpiredRunFigures]
    months: Sequence[int]
    """Of PostgreSQL's partitions, those that no run is left in: 202611 is November 2026."""
    artifacts: int
    """Removed with their runs, or without owner."""
    artifact_bytes: int
    notes: Sequence[str]
