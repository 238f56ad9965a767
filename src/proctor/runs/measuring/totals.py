"""A run as a whole: how much was answered, how fast, from where, and what all of it cost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from proctor.domain.documents.estimate import Rate
from proctor.domain.documents.evaluation import EvaluationFigures, OutcomeRates
from proctor.domain.documents.run import Costs, RunTotals
from proctor.domain.price import UNKNOWN, joint_kind
from proctor.domain.trial import Outcome
from proctor.metrics.latency import throughput
from proctor.metrics.rates import outcome_rates

Cost = tuple[float | None, str]
"""Dollars, None where they are not known, and who says so."""


def rates_of(items: Iterable[EvaluationFigures]) -> OutcomeRates:
    """The shares of trials that were answered, failed or could not be read, over these evaluations."""
    counts = dict.fromkeys((Outcome.SCORED, Outcome.INVALID, Outcome.FAILED), 0)
    cached = 0
    for item in items:
        cached += item.cached
        counts[Outcome.SCORED] += item.scored
        counts[Outcome.INVALID] += item.invalid
        counts[Outcome.FAILED] += item.failed
    rates = outcome_rates(counts, cached)
    return OutcomeRates(*(Rate.of(rates[name]) for name in ("answered", "invalid", "failed")))


def totals_of(items: Sequence[EvaluationFigures], seconds: float) -> RunTotals:
    """All evaluations together."""
    done, cached = sum(item.done for item in items), sum(item.cached for item in items)
    asked = done - cached
    started = [item for item in items if item.done]
    judges = [work for item in started for by_judge in item.judges.values() for work in by_judge.values()]
    costs = costs_of(
        [(item.cost_usd, item.cost_basis) for item in started], [(work.cost_usd, work.cost_basis) for work in judges]
    )
    return RunTotals(
        done=done,
        cached=cached,
        asked=asked,
        trials_per_second=throughput(asked, seconds) if asked else None,
        rates=rates_of(items),
        cost_usd=costs.cost_usd,
        models_cost_usd=costs.models_cost_usd,
        judges_cost_usd=costs.judges_cost_usd,
        cost_basis=costs.cost_basis,
    )


def costs_of(models: Sequence[Cost], judges: Sequence[Cost]) -> Costs:
    """What models and judges cost, together and apart."""
    total = _sum(usd for usd, _ in (*models, *judges))
    bases = [basis for usd, basis in (*models, *judges) if usd]
    return Costs(
        cost_usd=total,
        models_cost_usd=_sum(usd for usd, _ in models),
        judges_cost_usd=_sum(usd for usd, _ in judges) if judges else None,
        cost_basis=UNKNOWN if total is None else joint_kind(bases or ["free"]),
    )


def _sum(costs: Iterable[float | None]) -> float | None:
    known = list(costs)
    return None if any(cost is None for cost in known) else round(sum(filter(None, known)), 12)
