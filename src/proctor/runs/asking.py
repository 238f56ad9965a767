"""What executing a whole run and executing a chunk of one have in common."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence

from msgspec.structs import replace

from proctor.domain.errors import PlanError, ProctorError, UserError
from proctor.domain.evaluation import Evaluation
from proctor.domain.event import Event, Observer
from proctor.domain.model import Model, max_concurrency_of
from proctor.domain.plan import Limits, Plan
from proctor.domain.trial import Outcome
from proctor.runs.columns import EvaluationColumns
from proctor.runs.progress import EvaluationProgress

FAULT_KIND = re.compile(r"^\w+Error: ")
log = logging.getLogger("proctor.runs")


def numbered(evaluations: Sequence[Evaluation], rows: Sequence[EvaluationColumns]) -> list[Evaluation]:
    """The evaluations as they are recorded, each with the id of its row."""
    return [replace(item, id=row["id"]) for item, row in zip(evaluations, rows, strict=True)]


def refuse_gaps(plan: Plan) -> None:
    """A draft that holds something else than what was asked for is not run as if it were that; raises PlanError."""
    for gap in plan.gaps:
        error = PlanError(f"Nothing is run: {gap}. Name what the plan is to hold instead, and take 'gaps' out of it.")
        error.field = ("gaps",)
        raise error


def refuse_changed(evaluations: Sequence[Evaluation], rows: Sequence[EvaluationColumns], run_id: str) -> None:
    """Raises UserError where a benchmark is no longer what it was when the run was recorded, if it was."""
    for evaluation, row in zip(evaluations, rows, strict=False):
        if evaluation.benchmark_identity != row["digest"]:
            raise UserError(
                f"{evaluation.benchmark.name} has changed since run {run_id} started, so old and new answers would not "
                "belong together. Restore the file, or start a new run (unchanged questions come from the cache)."
            )


def versions_of(evaluations: Sequence[Evaluation]) -> dict[int, dict[str, str]]:
    """The scorers' versions, by evaluation."""
    return {item.id: {scorer.name: scorer.version for scorer in item.scorers} for item in evaluations}


def concurrency_of(limits: Limits, model: Model) -> int:
    """How many requests the model gets at once."""
    own = max_concurrency_of(model)
    return limits.concurrency if own is None else min(limits.concurrency, own)


def hopeless(item: EvaluationProgress) -> str | None:
    """Words for an evaluation in which nothing at all could be measured."""
    if item.outcomes[Outcome.FAILED] < item.trials:
        return None
    return every_trial_failed(item.label, item.side, item.benchmark, item.first_fault or "")


def every_trial_failed(label: str, side: str, benchmark: str, first_fault: str) -> str:
    fault = FAULT_KIND.sub("", first_fault).replace(f"{label}: ", "").rstrip(".")
    return f"{side} on {benchmark}: every trial failed ({fault})"


def isolate_observers(observers: list[Observer]) -> Observer:
    """One stream for all observers; one that fails is dropped and cannot hurt the run."""

    def observe(event: Event) -> None:
        for observer in list(observers):
            try:
                observer(event)
            except Exception:
                log.exception("an observer failed and is not called again")
                observers.remove(observer)

    return observe


def first_cause(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The error that made the others: one of ours where there is one."""
    leaves: list[BaseException] = []
    stack: list[BaseException] = [group]
    while stack:
        error = stack.pop()
        if isinstance(error, BaseExceptionGroup):
            stack.extend(reversed(error.exceptions))
        else:
            leaves.append(error)
    return next((leaf for leaf in leaves if isinstance(leaf, ProctorError)), leaves[0])
