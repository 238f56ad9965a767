"""A run in a list of runs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum

from proctor.domain.documents.document import Document
from proctor.domain.run import RunStatus


class ShownStatus(StrEnum):
    """What a person wants to know of a run: one whose process is gone is not running, whatever it wrote last."""

    QUEUED = "queued"
    RUNNING = "running"
    INTERRUPTED = "interrupted"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


class ListedRun(Document, frozen=True):
    run_id: str
    name: str | None
    status: RunStatus
    shown_status: ShownStatus
    is_executing: bool
    created_at: datetime
    seconds: float
    models: Sequence[str]
    benchmarks: Sequence[str]
    trials: int
    done: int | None
    """Trials that are finished, while a process executes the run."""
    cost_usd: float | None
    cost_basis: str | None
    """None before all evaluations are summed up: then `cost_usd` is not known yet."""
