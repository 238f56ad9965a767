"""Moments as columns hold them: as text, and as the month of a run."""

from __future__ import annotations

from datetime import UTC, datetime


def now_text() -> str:
    return text_of(datetime.now(UTC))


def text_of(moment: datetime) -> str:
    return moment.isoformat(timespec="microseconds")


def month_of(moment: datetime) -> int:
    """The month as one number: 202611 for November 2026."""
    return moment.year * 100 + moment.month
