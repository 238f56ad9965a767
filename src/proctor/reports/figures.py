"""Numbers as people read them, the same in every report: with unit, n and interval; not measured is a dash."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Protocol

from proctor.domain.documents.estimate import MetricEstimate, Rate
from proctor.domain.documents.evaluation import EvaluationFigures
from proctor.domain.documents.run import RunSummary
from proctor.metrics import rounding
from proctor.metrics.rounding import decimal_text, figure_text, percent_text

NOT_MEASURED = "–"


class HasCost(Protocol):
    @property
    def cost_usd(self) -> float | None: ...
    @property
    def cost_basis(self) -> str: ...
    @property
    def price_sources(self) -> Sequence[str]: ...


def has_parts(evaluation: EvaluationFigures) -> bool:
    """Whether its categories say more than its total: one category that holds every sample does not."""
    if len(evaluation.categories) != 1:
        return bool(evaluation.categories)
    [part] = evaluation.categories.values()
    whole = next(iter(evaluation.metrics.values()), None)
    return whole is not None and next(iter(part.values())).n != whole.n


def number_text(value: float | None) -> str:
    return NOT_MEASURED if value is None else decimal_text(value)


def estimate_text(estimate: MetricEstimate | Rate | None) -> str:
    """`0.710 [0.660, 0.760] n=312`; `0.710 of 0.85 […]` where marks cover that much of what there is to measure."""
    if estimate is None or estimate.value is None:
        return NOT_MEASURED
    text = score_text(estimate)
    if estimate.ci95 is not None:
        text += f" [{', '.join(map(decimal_text, estimate.ci95))}]"
    return f"{text} n={estimate.n:,}"


def score_text(estimate: MetricEstimate | Rate) -> str:
    """`0.710`, or `0.710 of 0.85` where marks cover that much of what there is to measure."""
    share = estimate.covers if isinstance(estimate, MetricEstimate) and estimate.value is not None else None
    return number_text(estimate.value) + ("" if share is None else f" of {figure_text(share)}")


def difference_text(estimate: MetricEstimate) -> str:
    """`+0.031 [+0.009, +0.053]`."""
    if estimate.value is None:
        return NOT_MEASURED
    text = rounding.difference_text(estimate.value)
    if estimate.ci95 is not None:
        text += f" [{', '.join(map(rounding.difference_text, estimate.ci95))}]"
    return text


def p_text(p_value: float | None) -> str:
    return NOT_MEASURED if p_value is None else rounding.p_text(p_value)


def seconds_text(seconds: float | None) -> str:
    if seconds is None:
        return NOT_MEASURED
    if 0 < seconds < 0.0009995:
        return f"{seconds * 1_000_000:.3g} µs"
    if seconds < 0.9995:
        return f"{seconds * 1000:.3g} ms"
    if seconds < 120:
        return f"{seconds:.3g} s"
    minutes = int(seconds // 60)
    return f"{minutes // 60:,} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min {int(seconds % 60)} s"


def count_text(count: int | None) -> str:
    return NOT_MEASURED if count is None else f"{count:,}"


def bytes_text(size: float) -> str:
    """`805306368` as `768 MiB`; what is no round number has three figures."""
    for unit, power in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if size >= 2**power:
            return f"{size / 2**power:.3g} {unit}" if size < 1000 * 2**power else f"{size / 2**power:,.0f} {unit}"
    return f"{size:g} B"


def plural(count: int, noun: str) -> str:
    """`1 trial`, `2 trials`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


TINY_USD = 0.0001
LARGE_USD = 1_000
EXACT = ("reported", "free")
"""Bases of costs that are no estimates: the provider said so, or there is nothing to pay."""
HOW = {
    "computed": "computed from tokens and a price list",
    "assumed": "computed from tokens and an assumed price",
    "mixed": "partly reported by the provider and partly computed, or computed from several prices",
    "unknown": "recorded without its source",
}


def cost_text(usd: float | Decimal | None, basis: str = "reported") -> str:
    """`$0.1234` where the provider said so, `≈$0.1234` where it was reckoned."""
    return "unknown" if usd is None else f"{_sign(usd, basis)}${_tiny(usd) or f'{float(usd):.4f}'}"


def small_cost_text(usd: float | None, basis: str = "reported") -> str:
    """A price of a single answer, which may be far below a cent."""
    if usd is None:
        return "unknown"
    plain = f"{usd:.3g}" if usd < LARGE_USD else f"{usd:.2f}"
    return f"{_sign(usd, basis)}${_tiny(usd) or plain}"


def _tiny(usd: float | Decimal) -> str | None:
    """What would look free with four places, in two digits and without an exponent; None for any other amount."""
    return f"{Decimal(f'{float(usd):.1e}'):f}" if 0 < usd < TINY_USD else None


def _sign(usd: float | Decimal, basis: str) -> str:
    return "" if basis in EXACT or not usd else "≈"


def cost_notes(items: Iterable[HasCost]) -> list[str]:
    """What ≈ means and which prices are behind it, a sentence for each kind; none where every cost is exact."""
    sources: dict[str, dict[str, None]] = {}
    for item in items:
        answers = item.answers_cost_usd if isinstance(item, EvaluationFigures) else None
        if item.cost_basis not in EXACT and (item.cost_usd or answers):
            sources.setdefault(item.cost_basis, {}).update(dict.fromkeys(item.price_sources))
    return [
        f"≈ {HOW[basis]}" + (f": {'; '.join(named)}." if named else ".") for basis, named in sources.items()
    ]  # fmt: skip


def coverage_notes(evaluations: Iterable[EvaluationFigures]) -> list[str]:
    """What marks are of, where not all of the weights were measured: a sentence, or none."""
    return covers_notes(one for item in evaluations for one in item.metrics.values())


def covers_notes(estimates: Iterable[MetricEstimate]) -> list[str]:
    """The same for single numbers."""
    shares = [one.covers for one in estimates if one.covers is not None and one.covers < 1]
    if not shares:
        return []
    least = figure_text(min(shares))
    return [f"'of {least}': the measured parts have {least} of the weight on average; scores are not scaled up."]


def unanswered_notes(run: RunSummary) -> list[str]:
    """A sentence about money that may be gone beside what is known; none where there is no such money."""
    if not run.unanswered_cost_usd:
        return []
    why = "without an answer, or whose answers report no cost"
    return [f"Up to {cost_text(run.unanswered_cost_usd)} more may have been spent on requests {why}."]


def share_text(count: int, total: int) -> str:
    """A count with its share: `3 (1.5 %)`."""
    return "0" if not count or not total else f"{count:,} ({percent_text(count / total)})"
