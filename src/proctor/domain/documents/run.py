"""A run: its state, its totals, its evaluations."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from proctor.domain.documents.document import Document
from proctor.domain.documents.evaluation import EvaluationSummary, OutcomeRates
from proctor.domain.run import RunStatus


class Costs(Document, frozen=True):
    """What models and judges cost, together and apart; None where a part is unknown."""

    cost_usd: float | None
    models_cost_usd: float | None
    judges_cost_usd: float | None
    cost_basis: str


class RunTotals(Document, frozen=True, kw_only=True):
    """All evaluations together; what is not known of one is not known of all."""

    done: int
    cached: int
    asked: int
    trials_per_second: float | None
    rates: OutcomeRates
    cost_usd: float | None
    models_cost_usd: float | None
    judges_cost_usd: float | None
    """None where no judge was asked, too."""
    cost_basis: str


class StopInterval(Document, frozen=True):
    value: float | None
    interval: tuple[float, float]


class StopOutcome(Document, frozen=True, kw_only=True):
    """What a rule that stops early came to, for one model or for two that it compares."""

    rule: str
    models: Sequence[str]
    met: bool
    n: int
    groups: int | None = None
    """How many groups the samples share, where they do."""
    value: float | None
    interval: tuple[float, float]
    method: str
    unreadable: int | None = None
    if_unreadable_wrong: StopInterval | None = None


class RunSummary(Document, frozen=True, kw_only=True):
    """A run with all its numbers."""

    run_id: str
    name: str | None
    status: RunStatus
    error: str | None
    created_at: datetime
    seconds: float
    unanswered_cost_usd: float
    totals: RunTotals
    evaluations: Sequence[EvaluationSummary]
    until: Sequence[StopOutcome] | None = None
    """None where no rule could stop the run early."""
    tags: Sequence[str] = ()
    """As the plan has them."""


class ShownRun(RunSummary, frozen=True, kw_only=True):
    """A run as `proctor show --json` prints it."""

    waiting_for: str | None
    """What nobody is there to do, such as 'a worker of pool sandbox'; None where it need not wait."""


class ExecutedRun(RunSummary, frozen=True, kw_only=True):
    """A run as `run` and `resume` print it."""

    execution_seconds: float
    problems: Sequence[str]
    """Why it is no success; empty where it is one."""


class StoppingRun(Document, frozen=True):
    """A run that was asked to stop."""

    run_id: str
    is_stopping: bool
