"""A plan with everything fixed that it left open, and what it will cost: asks nothing, writes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from proctor.costs.estimate import CostEstimate, estimate_cost, total_cost
from proctor.costs.judge_estimate import estimate_judges
from proctor.domain.documents.dry_run import DryRun, EstimatedCost, EstimatedJudge, PilotRun, PlannedEvaluation
from proctor.domain.evaluation import Evaluation
from proctor.domain.plan import Plan
from proctor.runs.sides import NamedSide, sides_of
from proctor.stores.database import Database


def estimate_run(
    plan: Plan,
    evaluations: Sequence[Evaluation],
    database: Database | None,
    *,
    pilot: PilotRun | None = None,
    missing_keys: Sequence[str] = (),
) -> DryRun:
    """The resolved plan with what each evaluation and all of them will cost; earlier runs in `database` are used."""
    costs = [estimate_cost(item, database) for item in evaluations]
    judges = [estimate_judges(item, database) for item in evaluations]
    return DryRun(
        dry_run=True,
        name=plan.name,
        seed=plan.seed,
        trials=sum(item.trials for item in evaluations),
        estimated_requests=_requests(evaluations),
        limits=plan.limits.as_json(),
        until=_stop_rule(plan),
        evaluations=[
            _planned(
                item, side, _rounded(cost), [EstimatedJudge(one.scorer, one.judge, _rounded(one.cost)) for one in some]
            )
            for item, side, cost, some in zip(evaluations, sides_of(evaluations), costs, judges, strict=True)
        ],
        cost=_rounded(total_cost(costs, [one.cost for some in judges for one in some])),
        judges_counted=True if any(judges) else None,
        pilot=pilot,
        missing_keys=missing_keys,
    )


def _requests(evaluations: Sequence[Evaluation]) -> int:
    turns = {id(item.samples): item.samples for item in evaluations}
    requests = {key: sum(1 + len(sample.follow_ups) for sample in samples) for key, samples in turns.items()}
    return sum(requests[id(item.samples)] * item.epochs for item in evaluations)


def _stop_rule(plan: Plan) -> str | None:
    if plan.until is None:
        return None
    from proctor.stopping.rule import rule_of  # few plans have a rule, and it is not free to import

    return str(rule_of(plan))


def _planned(
    item: Evaluation, named: NamedSide, cost: EstimatedCost, judges: Sequence[EstimatedJudge]
) -> PlannedEvaluation:
    name, side = named
    return PlannedEvaluation(
        model=item.label,
        side=name,
        settings={**side.settings, **item.options},
        model_spec=str(item.model_spec),
        endpoint=item.model.identity.endpoint,
        benchmark=item.benchmark.name,
        version=item.benchmark.version,
        digest=item.fingerprint.digest,
        samples=item.fingerprint.count,
        epochs=item.epochs,
        trials=item.trials,
        options=dict(item.options),
        scorers={scorer.name: scorer.version for scorer in item.scorers},
        metrics=list(item.benchmark.metrics),
        cost=cost,
        judges=judges,
    )


def _rounded(estimate: CostEstimate) -> EstimatedCost:
    value, low, high = (_number(one) for one in (estimate.value_usd, estimate.low_usd, estimate.high_usd))
    interval = None if low is None or high is None else (low, high)
    return EstimatedCost(value, interval, estimate.cached_trials, estimate.basis)


def _number(value: Decimal | None) -> float | None:
    return None if value is None else float(round(value, 12))
