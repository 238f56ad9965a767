"""What was used, and what it cost: models' bills by what providers said, machines by the operator's own prices."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from proctor.domain.documents.document import Document


class UsagePrices(Document, frozen=True):
    """What the operator says; None where nothing is said."""

    worker_hour_usd: float | None
    storage_gb_month_usd: float | None


class UsageItem(Document, frozen=True):
    """What was used by one day, project, user and model, as far as these were asked for; else they are None."""

    day: date | None
    """By UTC."""
    project: str | None
    user: str | None
    """Who started the run, or asked: a user's name, or `key ID`; None also for runs that a command executed."""
    model: str | None
    """None also for answers of a blind ask whose names are still hidden from whoever reads this."""
    runs: int
    asks: int
    """Asks of the playground, whose answers are counted with those of runs."""
    answers: int
    cached: int
    """Answers that cost nothing because they were there already."""
    failed: int
    input_tokens: int
    output_tokens: int
    cost_usd: float
    """Of answers whose cost is known; judges' answers are not among them."""
    unpriced: int
    """Answers whose cost nobody knows: with these, `cost_usd` is a part of the bill."""
    worker_seconds: float | None
    """How long workers were busy; None by model, which is not measured."""
    workers_usd: float | None
    """At the operator's price; None without one."""


class StoredBytes(Document, frozen=True):
    project: str
    bytes: int
    """Of answers and uploaded files."""
    usd_a_month: float | None


class UsageReport(Document, frozen=True):
    since: date
    until: date
    """The last day that is counted."""
    by: Sequence[str]
    items: Sequence[UsageItem]
    storage: Sequence[StoredBytes]
    """Now."""
    prices: UsagePrices
