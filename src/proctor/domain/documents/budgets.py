"""Budgets of projects, users and keys, and how much of them is used."""

from __future__ import annotations

from decimal import Decimal

from proctor.domain.documents.document import Document


class ListedBudget(Document, frozen=True):
    kind: str
    """project, user or key."""
    subject: str
    """The project's or the user's name, or the key's id."""
    cost_usd: Decimal | None
    """What runs may cost in a period; None for no limit."""
    per: str
    """day, month or total; days and months of UTC."""
    spent_usd: Decimal
    """In this period: what runs have cost, and what those that did not end may yet cost."""
    left_usd: Decimal | None
    until: str | None
    """When the period ends."""
    runs_at_once: int | None
    runs_now: int
    storage_bytes: int | None
    """What is kept of what was sent to a project may be so much: files, benchmarks, programs."""
    set_by: str
    set_at: str
