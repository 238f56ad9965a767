"""A pilot: a few samples of each benchmark asked for real, so that the cost of the whole plan can be estimated."""

from __future__ import annotations

from collections.abc import Callable

from proctor.costs.estimate import pilot_plan
from proctor.domain.documents.dry_run import PilotRun
from proctor.domain.errors import PlanError, RunError
from proctor.domain.plan import Plan
from proctor.domain.run import RunStatus
from proctor.runs.execute import submit
from proctor.runs.execution import RunExecution
from proctor.runs.read import read_run
from proctor.runs.resolve import PlanContext
from proctor.stores.database import Database


def run_pilot(
    plan: Plan, context: PlanContext, database: Database, samples: int, execute: Callable[[RunExecution], RunStatus]
) -> PilotRun:
    """Ask a few samples as a run of its own, which `execute` runs; raises RunError when it is not completed."""
    if not plan.cache:
        raise PlanError("--pilot caches its answers so that none is paid for twice: leave out --no-cache.")
    execution = submit(pilot_plan(plan, samples), context, database)
    status = execute(execution)
    run = read_run(database, execution.run_id)
    if status is not RunStatus.COMPLETED:
        raise RunError(f"The pilot run {execution.run_id} was not completed: {run.error}")
    costs = [item.cost_usd for item in run.evaluations]
    return PilotRun(
        run_id=execution.run_id,
        trials=sum(item.trials for item in run.evaluations),
        cost_usd=None if None in costs else sum(filter(None, costs)),
    )
