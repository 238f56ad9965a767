"""A run as a whole, in sentences."""

from __future__ import annotations

from proctor.domain.documents.run import RunSummary, RunTotals
from proctor.reports.figures import cost_text, estimate_text, plural, seconds_text


def totals_lines(run: RunSummary) -> list[str]:
    """What a run's end says of the whole."""
    found = run.totals
    if not found.done:
        return []
    lines = [_pace_text(found, run.seconds)] if found.asked else []
    if found.cached:
        lines.append(f"{found.cached:,} of {found.done:,} answers came from the cache (off with --no-cache).")
    lines.append(_cost_line(found))
    return lines


def _pace_text(found: RunTotals, seconds: float) -> str:
    answered = f"Answered: {estimate_text(found.rates.answered)}"
    if found.trials_per_second is None:
        return f"{answered}."
    rate = found.trials_per_second
    pace = f"{rate:,.0f}/s" if rate >= 100 else f"{rate:.3g}/s"
    return f"{answered}; {plural(found.asked, 'trial')} run in {seconds_text(seconds)}, {pace}."


def _cost_line(found: RunTotals) -> str:
    total = f"Total cost: {cost_text(found.cost_usd, found.cost_basis)}"
    if found.judges_cost_usd is None:
        return f"{total}."
    parts = {"models": found.models_cost_usd, "judges": found.judges_cost_usd}
    shown = ", ".join(f"{name} {cost_text(usd, found.cost_basis)}" for name, usd in parts.items())
    return f"{total} ({shown})."
