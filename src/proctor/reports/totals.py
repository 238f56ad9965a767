"""A run as a whole: how much was answered, how fast, from where, and what all of it cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from proctor.domain.estimate import Estimate
from proctor.domain.price import UNKNOWN, joint_kind
from proctor.domain.trial import Outcome
from proctor.metrics.latency import throughput
from proctor.metrics.rates import outcome_rates
from proctor.reports.figures import basis_of, cost_text, done_trials, estimate_text, plural, seconds_text

Item = Mapping[str, Any]


def rates_json(items: Iterable[Item]) -> dict[str, Any]:
    """The shares of trials that were answered, failed or could not be read, over these evaluations."""
    counts = dict.fromkeys((Outcome.SCORED, Outcome.INVALID, Outcome.FAILED), 0)
    cached = 0
    for item in items:
        cached += item["cached"]
        for outcome in counts:
            counts[outcome] += item[outcome.value]
    return {name: _rate_json(rate) for name, rate in outcome_rates(counts, cached).items()}


def totals_json(items: Sequence[Item], seconds: float) -> dict[str, Any]:
    """All evaluations together; what is not known of one is not known of all."""
    done, cached = sum(map(done_trials, items)), sum(item["cached"] for item in items)
    asked = done - cached
    return {
        "done": done,
        "cached": cached,
        "asked": asked,
        "trials_per_second": throughput(asked, seconds) if asked else None,
        "rates": rates_json(items),
        **cost_json((item["cost_usd"], basis_of(item), item.get("judges", {})) for item in items if done_trials(item)),
    }


def cost_json(parts: Iterable[tuple[float | None, str, Mapping[str, Any]]]) -> dict[str, Any]:
    """What models and judges cost, together and apart; None where a part is unknown."""
    models: list[float | None] = []
    judges: list[float | None] = []
    bases: list[str] = []
    for cost, basis, judged in parts:
        models.append(cost)
        bases += [basis] if cost else []
        for judge in (one for scorer in judged.values() for one in scorer.values()):
            judges.append(judge["cost_usd"])
            bases += [basis_of(judge)] if judge["cost_usd"] else []
    total = _sum([*models, *judges])
    return {
        "cost_usd": total,
        "models_cost_usd": _sum(models),
        "judges_cost_usd": _sum(judges) if judges else None,
        "cost_basis": UNKNOWN if total is None else joint_kind(bases or ["free"]),
    }


def totals_lines(document: Item) -> list[str]:
    """What a run's end says of the whole."""
    found = document["totals"]
    if not found["done"]:
        return []
    lines = [_pace_text(found, document["seconds"])] if found["asked"] else []
    if found["cached"]:
        lines.append(f"{found['cached']:,} of {found['done']:,} answers came from the cache (off with --no-cache).")
    lines.append(_cost_line(found))
    return lines


def _pace_text(found: Item, seconds: float) -> str:
    answered = f"Answered: {estimate_text(found['rates']['answered'])}"
    if found["trials_per_second"] is None:
        return f"{answered}."
    rate = found["trials_per_second"]
    pace = f"{rate:,.0f}/s" if rate >= 100 else f"{rate:.3g}/s"
    return f"{answered}; {plural(found['asked'], 'trial')} run in {seconds_text(seconds)}, {pace}."


def _cost_line(found: Item) -> str:
    total = f"Total cost: {cost_text(found['cost_usd'], found['cost_basis'])}"
    if found["judges_cost_usd"] is None:
        return f"{total}."
    parts = (f"{name} {cost_text(found[f'{name}_cost_usd'], found['cost_basis'])}" for name in ("models", "judges"))
    return f"{total} ({', '.join(parts)})."


def _sum(costs: Iterable[float | None]) -> float | None:
    known = list(costs)
    return None if any(cost is None for cost in known) else round(sum(filter(None, known)), 12)


def _rate_json(rate: Estimate) -> dict[str, Any]:
    interval = None if rate.low is None or rate.high is None else [rate.low, rate.high]
    return {"value": rate.value, "ci95": interval, "n": rate.n}
