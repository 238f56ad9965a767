"""A run in the hands of one process."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field

from proctor.domain.artifacts import Artifacts
from proctor.domain.evaluation import Evaluation
from proctor.domain.event import Observer
from proctor.domain.plan import Plan
from proctor.runs.progress import Progress
from proctor.stores.database import Database

if TYPE_CHECKING:
    from proctor.stopping.rule import StopRule


class RunExecution(Struct, dict=True, eq=False):
    """What executing a run needs and changes: prepared, and stopped from outside."""

    run_id: str
    plan: Plan
    evaluations: list[Evaluation]
    database: Database
    is_offline: bool = False
    artifacts: Artifacts | None = None
    home: Path | None = None
    observers: list[Observer] = field(default_factory=list)
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    stop_reason: str | None = None
    is_lost: bool = False
    is_reopened: bool = False
    """Its scorers may be other versions than those of its earlier executions."""

    def __post_init__(self) -> None:
        self.progress = Progress(self.evaluations)
        self.rule = _stop_rule(self.plan, self.evaluations)

    def stop(self, reason: str) -> None:
        """Send nothing new, finish what is in flight, keep everything."""
        if self.stop_reason is None:
            self.stop_reason = reason
        self.progress.is_stopping = True
        self.stopping.set()

    def lose(self) -> None:
        """Another process has the run: stop, and write nothing."""
        self.is_lost = True
        self.stop("another process has taken the run over")


def _stop_rule(plan: Plan, evaluations: Sequence[Evaluation]) -> StopRule | None:
    if plan.until is None:
        return None
    from proctor.stopping.rule import stop_rule

    return stop_rule(plan, evaluations)
