"""How many trials a plan may have: what is cut into chunks is written down, and nobody waits for a thousand years."""

from __future__ import annotations

from collections.abc import Iterable

from proctor.domain.errors import PlanError, in_field
from proctor.domain.evaluation import Evaluation
from proctor.domain.plan import Plan

MAX_TRIALS = 10_000_000


def refuse_too_many_epochs(plan: Plan) -> None:
    """Before any data is read: even with one sample in each benchmark there would be too many."""
    epochs = sum(spec.epochs or plan.epochs for spec in plan.benchmarks)
    with in_field("epochs"):
        _refuse(epochs * len(plan.models), "at least ")


def refuse_too_many_trials(evaluations: Iterable[Evaluation]) -> None:
    _refuse(sum(item.fingerprint.count * item.epochs for item in evaluations), "")


def _refuse(count: int, bound: str) -> None:
    if count > MAX_TRIALS:
        raise PlanError(
            f"This plan is of {bound}{count:,} trials, and a run takes {MAX_TRIALS:,}: lower epochs or limit, or make "
            "several runs of it."
        )
