"""Backups: what was made, checked, restored and removed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from proctor.domain.documents.document import Document


class BackupFigures(Document, frozen=True):
    id: str
    created_at: datetime
    """Everything that was committed before is in it, and nothing that was committed later."""
    seconds: float
    version: str
    schema: str
    engine: str
    runs: int
    rows: int
    rows_bytes: int
    artifacts: int
    artifact_bytes: int
    is_encrypted: bool


class MadeBackup(Document, frozen=True):
    place: str
    backup: BackupFigures
    new_artifacts: int
    """Of its artifacts, those that no earlier backup in this place had."""
    new_bytes: int
    artifacts_gone: int
    """Deleted while the backup was made."""


class BackupList(Document, frozen=True):
    place: str
    backups: Sequence[BackupFigures]
    """The newest first."""
    unfinished: Sequence[str]


class VerifiedBackup(Document, frozen=True):
    id: str
    rows: int
    artifacts: int
    faults: Sequence[str]


class RestoredBackup(Document, frozen=True):
    place: str
    backup: BackupFigures
    database: str
    artifacts: str
    """The store that they were restored to."""
    seconds: float


class PrunedBackups(Document, frozen=True):
    place: str
    is_dry_run: bool
    kept: Sequence[str]
    removed: Sequence[str]
    artifacts: int
    """Bodies that no backup that is kept refers to."""
    note: str | None
    """Why bodies were left, where they were."""
