"""Take a plan in: its run is written as queued at once, and workers do the rest."""

from __future__ import annotations

from collections.abc import Mapping

from proctor.domain.chunk import Priority
from proctor.domain.errors import PlanError, in_field
from proctor.domain.plan import Limits, Plan
from proctor.planning.matrix import expand_matrix
from proctor.runs.asking import refuse_gaps
from proctor.runs.chunks.content import keep_content
from proctor.runs.chunks.trial_count import refuse_too_many_epochs
from proctor.runs.resolve import PlanContext
from proctor.stores.accounts.budgets import Spender
from proctor.stores.database import Database
from proctor.stores.idempotency import RequestKey
from proctor.stores.queue import QueueStore
from proctor.stores.rescorings import RescoringStore
from proctor.stores.runs import RunStore


def accept(
    plan: Plan,
    context: PlanContext,
    database: Database,
    *,
    priority: Priority = Priority.NORMAL,
    request: RequestKey | None = None,
    spender: Spender | None = None,
    content: Mapping[str, str] | None = None,
    started_by: str | None = None,
    plan_id: str | None = None,
) -> str:
    """Write the plan's run as queued and give its id; no name is looked up. A request that came before makes no run.

    What the plan needs of this disk is kept as content, where there are artifacts: a worker may be elsewhere. `content`
    is what it needs beside that: path -> artifact. `plan_id` is the saved plan that it was made from.
    """
    refuse_gaps(plan)
    refuse_in_batches(plan)
    if plan.until is not None:
        from proctor.stopping.rule import rule_of  # few runs have a rule, and it is not free to import

        with in_field("until"):
            rule_of(plan)
    plan = expand_matrix(plan, context.folder)
    refuse_too_many_epochs(plan)
    content = {**keep_content(plan, context), **(content or {})}
    return QueueStore(database).accept(
        plan,
        context.folder,
        context.data,
        priority=priority,
        content=content,
        request=request,
        spender=spender,
        started_by=started_by,
        plan_id=plan_id,
    )


def requeue(run_id: str, database: Database, *, limits: Limits | None = None, priority: Priority | None = None) -> None:
    """Let workers finish whatever is unfinished of a run; one that they have already is left alone."""
    run = RunStore(database).get(run_id)
    RescoringStore(database).refuse_open(run.id)
    refuse_in_batches(run.plan)
    plan = run.plan if limits is None else run.plan.model_copy(update={"limits": limits})
    QueueStore(database).requeue(run.id, plan, priority)


def refuse_in_batches(plan: Plan) -> None:
    if plan.batch:
        raise PlanError(
            "A batch is handed in and collected by one process: leave out --batch, or run it here (--here)."
        )
