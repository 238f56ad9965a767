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


class RunKind(StrEnum):
    EVALUATION = "evaluation"
    """Models on benchmarks."""
    PLAYGROUND = "playground"
    """One prompt to several models: an ask, whose id `run_id` is."""


class ListedRun(Document, frozen=True):
    run_id: str
    kind: RunKind
    name: str | None
    """Of an ask: the beginning of its prompt."""
    started_by: str | None
    """A user's name, or `key ID`; None for runs of the command line."""
    status: RunStatus
    shown_status: ShownStatus
    is_executing: bool
    created_at: datetime
    seconds: float
    models: Sequence[str]
    benchmarks: Sequence[str]
    trials: int
    """Of an ask: how many models are asked."""
    done: int | None
    """Trials that are finished, while a process executes the run."""
    cost_usd: float | None
    cost_basis: str | None
    """None before all evaluations are summed up, and while an ask hides who is who: `cost_usd` is not known yet."""
    tags: Sequence[str] = ()
    """As the plan has them."""
