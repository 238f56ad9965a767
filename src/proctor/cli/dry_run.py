"""`proctor run --dry-run`: resolve everything and estimate the cost; ask nothing, write nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from decimal import Decimal

    from proctor.costs.estimate import CostEstimate
    from proctor.domain.evaluation import Evaluation
    from proctor.domain.plan import Plan
    from proctor.runs.resolve import PlanContext
    from proctor.stores.database import Database


def estimated(plan: Plan, evaluations: Sequence[Evaluation], database: Database | None) -> dict[str, Any]:
    """The resolved plan with what each evaluation and all of them will cost."""
    from proctor.costs.estimate import estimate_cost, total_cost
    from proctor.costs.judge_estimate import estimate_judges

    document = resolved(plan, evaluations)
    estimates = [estimate_cost(item, database) for item in evaluations]
    judges = [estimate_judges(item, database) for item in evaluations]
    for part, estimate, judging in zip(document["evaluations"], estimates, judges, strict=True):
        part["cost"] = _cost_json(estimate)
        part["judges"] = [
            {"scorer": item.scorer, "judge": item.judge, "cost": _cost_json(item.cost)} for item in judging
        ]
    document["cost"] = _cost_json(total_cost(estimates, [item.cost for some in judges for item in some]))
    document["judges_counted"] = True if any(judges) else None
    return document


def _cost_json(estimate: CostEstimate) -> dict[str, Any]:
    def number(value: Decimal | None) -> float | None:
        return None if value is None else float(round(value, 12))

    return {
        "value_usd": number(estimate.value_usd),
        "ci95_usd": None if estimate.value_usd is None else [number(estimate.low_usd), number(estimate.high_usd)],
        "cached_trials": estimate.cached_trials,
        "basis": estimate.basis,
    }


def resolved(plan: Plan, evaluations: Sequence[Evaluation]) -> dict[str, Any]:
    """The plan with everything fixed that it left open, as `--dry-run --json` prints it."""
    from proctor.domain.side import Side, prompt_settings, side_names
    from proctor.stopping.rule import rule_of

    sides = [
        Side(item.label, item.benchmark.name, prompt_settings(item.benchmark_spec.model_dump())) for item in evaluations
    ]
    turns = {id(item.samples): item.samples for item in evaluations}
    requests = {key: sum(1 + len(sample.follow_ups) for sample in samples) for key, samples in turns.items()}
    return {
        "dry_run": True,
        "name": plan.name,
        "seed": plan.seed,
        "trials": sum(item.trials for item in evaluations),
        "estimated_requests": sum(requests[id(item.samples)] * item.epochs for item in evaluations),
        "limits": plan.limits.model_dump(mode="json"),
        "until": None if plan.until is None else str(rule_of(plan)),
        "evaluations": [
            {
                "model": item.label,
                "side": name,
                "settings": {**side.settings, **item.options},
                "model_spec": str(item.model_spec),
                "endpoint": item.model.identity.endpoint,
                "benchmark": item.benchmark.name,
                "version": item.benchmark.version,
                "digest": item.fingerprint.digest,
                "samples": item.fingerprint.count,
                "epochs": item.epochs,
                "trials": item.trials,
                "options": dict(item.options),
                "scorers": {scorer.name: scorer.version for scorer in item.scorers},
                "metrics": list(item.benchmark.metrics),
            }
            for item, side, name in zip(evaluations, sides, side_names(sides), strict=True)
        ],
    }


def run_pilot(plan: Plan, here: PlanContext, samples: int) -> dict[str, Any]:
    """Ask a few samples for real, as a run of its own; raises RunError when it could not be finished."""
    from proctor.cli.context import database
    from proctor.cli.executing import watch
    from proctor.costs.estimate import pilot_plan
    from proctor.domain.errors import PlanError, RunError
    from proctor.domain.run import RunStatus
    from proctor.runs.execute import submit
    from proctor.runs.read import read_run

    if not plan.cache:
        raise PlanError("--pilot caches its answers so that none is paid for twice: leave out --no-cache.")
    with database() as opened:
        execution = submit(pilot_plan(plan, samples), here, opened)
        status = watch(execution)
        document = read_run(opened, execution.run_id)
    if status is not RunStatus.COMPLETED:
        raise RunError(f"The pilot run {execution.run_id} was not completed: {document['error']}")
    costs = [item["cost_usd"] for item in document["evaluations"]]
    return {
        "run_id": execution.run_id,
        "trials": sum(item["trials"] for item in document["evaluations"]),
        "cost_usd": None if None in costs else sum(costs),
    }
