"""A log of another tool that was imported."""

from __future__ import annotations

from collections.abc import Sequence

from proctor.domain.documents.document import Document


class ImportedEvaluation(Document, frozen=True):
    model: str
    benchmark: str
    samples: int
    trials: int
    failed: int
    scorers: Sequence[str]


class ImportedRun(Document, frozen=True):
    run_id: str
    name: str | None
    tool: str
    tool_version: str
    is_new: bool
    """False where the same log had been imported before, and nothing was written."""
    evaluations: Sequence[ImportedEvaluation]
