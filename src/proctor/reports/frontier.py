"""Cost against quality: which models nobody beats at their price."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from proctor.domain.documents.evaluation import EvaluationSummary
from proctor.reports.charts import Chart, Point, scatter
from proctor.reports.figures import cost_notes, estimate_text, small_cost_text
from proctor.reports.sections import Section, Table


class Priced(Struct, frozen=True):
    """A model's score on one benchmark and what an answer cost."""

    model: str
    benchmark: str
    score: float
    score_text: str
    cost_usd: float
    correct_usd: float | None
    basis: str = "reported"
    """Who says what it cost."""
    interval: tuple[float, float] | None = None
    """Of the score, at 95 %."""


def frontier(models: Sequence[Priced]) -> list[Priced]:
    """Those no other is at once better than and cheaper than, or better or cheaper at no loss; cheapest first."""

    def beats(a: Priced, b: Priced) -> bool:
        is_no_worse = a.score >= b.score and a.cost_usd <= b.cost_usd
        return is_no_worse and (a.score > b.score or a.cost_usd < b.cost_usd)

    kept = [item for item in models if not any(beats(other, item) for other in models)]
    return sorted(kept, key=lambda item: (item.cost_usd, item.score))


def frontier_section(evaluations: Sequence[EvaluationSummary]) -> Section | None:
    """A table and a chart for each benchmark with at least two priced models, one not free; None without any."""
    tables, charts = [], []
    for benchmark in dict.fromkeys(item.benchmark for item in evaluations):
        priced = [found for item in evaluations if item.benchmark == benchmark and (found := _priced(item))]
        if len(priced) < 2 or not any(item.cost_usd for item in priced):
            continue
        best = frontier(priced)
        tables.append(_table(benchmark, priced, best))
        charts.append(_chart(benchmark, priced, best))
    if not tables:
        return None
    note = (
        "On the frontier: no other model here is at least as good for at most the same cost. Scores have intervals too."
    )
    return Section("Cost and quality", (), tuple(tables), tuple(charts), (note, *cost_notes(evaluations)))


def _priced(item: EvaluationSummary) -> Priced | None:
    estimate = next(iter(item.metrics.values()), None)
    cost = item.cost_per_answer_usd
    if estimate is None or estimate.value is None or cost is None:
        return None
    return Priced(
        item.side,
        item.benchmark,
        estimate.value,
        estimate_text(estimate),
        cost,
        item.cost_per_correct_usd,
        item.cost_basis,
        estimate.ci95,
    )


def _table(benchmark: str, priced: Sequence[Priced], best: Sequence[Priced]) -> Table:
    rows = tuple(
        (
            item.model,
            "yes" if item in best else "no",
            item.score_text,
            small_cost_text(item.cost_usd, item.basis),
            small_cost_text(item.correct_usd, item.basis),
        )
        for item in sorted(priced, key=lambda item: item.cost_usd)
    )
    headers = ("Model", "On the frontier", "Score [95 % interval]", "cost per answer", "cost per right answer")
    return Table(headers, rows, words=2, title=benchmark)


def _chart(benchmark: str, priced: Sequence[Priced], best: Sequence[Priced]) -> Chart:
    points = [
        Point(
            item.model,
            item.cost_usd,
            item.score,
            f"{item.score_text}, {small_cost_text(item.cost_usd, item.basis)}",
            place,
            item.interval,
        )
        for place, item in enumerate(priced)
    ]
    line = [(item.cost_usd, item.score) for item in best]
    title = f"Score with 95 % interval against cost per answer, {benchmark}"
    note = "The line joins the models on the frontier." if len(line) > 1 else ""
    axes = ("Cost per answer", "Score")
    return scatter(f"frontier-{benchmark}", title, points, line, small_cost_text, axes=axes, note=note)
