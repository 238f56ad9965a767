"""A project that was written to a file, or taken from one."""

from __future__ import annotations

from collections.abc import Mapping

from proctor.domain.documents.document import Document


class ExportedProject(Document, frozen=True):
    project: str
    file: str
    bytes: int
    rows: Mapping[str, int]
    """Of each table that has some."""
    artifacts: int
    artifact_bytes: int
    is_encrypted: bool


class ImportedProject(Document, frozen=True):
    project: str
    exported_as: str
    exported_by_version: str
    rows: Mapping[str, int]
    artifacts: int
    artifact_bytes: int
    is_own: bool
    """False where its models are called `imported/…`, and no leaderboard ranks them."""
