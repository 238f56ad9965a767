"""What people keep and say: saved plans, comments, marks of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from proctor.domain.documents.document import Document
from proctor.domain.message import Json


class SavedPlan(Document, frozen=True, kw_only=True):
    """A plan to run again; `revision` grows with each change."""

    plan_id: str
    name: str
    plan: Mapping[str, Json]
    revision: int
    author: str
    created_at: str
    updated_at: str


class SavedPlanPage(Document, frozen=True):
    """Saved plans, newest first."""

    items: Sequence[SavedPlan]
    next: str | None


class Comment(Document, frozen=True):
    comment_id: str
    run_id: str
    result_id: str | None
    """The result that it is about; null for one about the whole run."""
    author: str
    text: str
    created_at: str


class CommentPage(Document, frozen=True):
    """A run's comments, oldest first."""

    items: Sequence[Comment]
    next: str | None


class Label(Document, frozen=True):
    """A person's own mark of a result."""

    run_id: str
    result_id: str
    author: str
    value: float
    """From 0 to 1."""
    note: str
    labelled_at: str
