"""What was deleted."""

from __future__ import annotations

from collections.abc import Sequence

from proctor.domain.documents.document import Document


class DeletedRun(Document, frozen=True):
    run_id: str
    responses: int
    samples: int
    artifacts: int
    artifact_bytes: int


class RunDeletion(Document, frozen=True):
    run_id: str
    deleted: DeletedRun
    named_by: Sequence[str]
    """Runs whose plans name the deleted one: they cannot be resumed without it."""


class DeletedSubmission(Document, frozen=True):
    submission_id: str
    artifacts: int
    artifact_bytes: int


class SubmissionDeletion(Document, frozen=True):
    submission_id: str
    deleted: DeletedSubmission


class DeletedProject(Document, frozen=True):
    project: str
    runs: int
    responses: int
    rows: int
    """Of everything else: files, benchmarks, plans, programs, keys, members, …"""
    artifacts: int
    artifact_bytes: int
