"""A comparison document as sections."""

from __future__ import annotations

from collections.abc import Sequence

from proctor.domain.documents.comparison import ComparedSide, Comparison, Comparisons, FlippedAnswers
from proctor.metrics.rounding import figure_text
from proctor.reports.charts import Chart, Mark, forest
from proctor.reports.figures import (
    NOT_MEASURED,
    cost_notes,
    cost_text,
    count_text,
    covers_notes,
    difference_text,
    number_text,
    p_text,
    plural,
    score_text,
    seconds_text,
    small_cost_text,
)
from proctor.reports.sections import Page, Section, Table

EFFECTS = {"odds_ratio": "odds ratio", "cohens_h": "Cohen's h", "cohens_d": "Cohen's d"}
REASONS = {
    "only_a_failed_in_b": "failed in B",
    "only_a_not_asked_in_b": "not run in B",
    "only_b_failed_in_a": "failed in A",
    "only_b_not_asked_in_a": "not run in A",
    "failed_in_both": "failed in both",
}
CUT = 400


def comparison_page(document: Comparisons) -> Page:
    """Verdicts first, then the numbers behind them, what they cost, and the samples that only one got right."""
    items = document.comparisons
    verdict = Section(
        "Verdict",
        tuple(sentence(item) for item in items),
        (differences_table(items),),
        (differences_chart(items),),
        (*notes(document), "Differences are B minus A on the samples both have a score for."),
    )
    flips = [section for item in items if (section := flips_section(item)) is not None]
    names = " and ".join(dict.fromkeys(item.benchmark for item in items))
    return Page(f"Comparison on {names}", _runs(items), (verdict, sides_section(items), *flips))


def sentence(item: Comparison) -> str:
    """`puzzles: B is better by 3.1 points [0.9, 5.3], p = 0.006.`"""
    metric = "" if item.metric in ("accuracy", "mean") else f", {item.metric}"
    about = f"{item.a.name} (A) and {item.b.name} (B) on {item.benchmark}{metric}"
    return " ".join((f"{about}: {item.verdict}.", *item.notes))


def notes(document: Comparisons) -> tuple[str, ...]:
    """What a reader must know besides the numbers: what was left out, what differs, what was not compared."""
    found: list[str] = []
    for item in document.comparisons:
        text = left_out_text(item)
        about = f"{item.b.name} against {item.a.name} on {item.benchmark}"
        if text:
            found.append(f"{about}: {text}")
        found += [f"{about}: {warning}" for warning in item.warnings]
    found += covers_notes(side.score for item in document.comparisons for side in (item.a, item.b))
    return (*found, *(f"Not compared: {reason}" for reason in document.not_compared))


def left_out_text(item: Comparison) -> str:
    """`5 samples left out: 3 failed in B, 2 not asked in A.`; nothing when every sample was compared."""
    counts = {name: count for name, count in item.left_out.counts.items() if count}
    if not counts:
        return ""
    reasons = ", ".join(f"{count:,} {REASONS[name]}" for name, count in counts.items())
    return f"{plural(sum(counts.values()), 'sample')} left out: {reasons}."


def differences_table(items: Sequence[Comparison]) -> Table:
    rows = tuple(
        (
            item.benchmark,
            item.a.name,
            item.b.name,
            count_text(item.n),
            score_text(item.a.score),
            score_text(item.b.score),
            difference_text(item.difference),
            p_text(item.p_adjusted),
            count_text(item.flips.gained.count),
            count_text(item.flips.lost.count),
            item.test or "none",
            _effect(item),
            number_text(item.detectable_difference),
        )
        for item in items
    )
    family = max((item.family for item in items), default=1)
    p_title = f"p (Holm, {family})" if family > 1 else "p"
    headers = (
        "Benchmark", "A", "B", "n", "score A", "score B", "B - A [95 % interval]", p_title, "only B right",
        "only A right", "test", "effect size", "min. detectable",
    )  # fmt: skip
    return Table(headers, rows, words=3)


def _effect(item: Comparison) -> str:
    known = {EFFECTS.get(name, name): value for name, value in item.effects.items() if value is not None}
    return ", ".join(f"{name} {figure_text(value, 3)}" for name, value in known.items()) or NOT_MEASURED


def differences_chart(items: Sequence[Comparison]) -> Chart:
    several = len({item.benchmark for item in items}) > 1
    marks = [
        mark
        for index, item in enumerate(items)
        if (
            mark := Mark.of(
                f"{item.b.name} − {item.a.name}" + (f", {item.benchmark}" if several else ""),
                item.difference,
                f"{difference_text(item.difference)} n={item.n:,}",
                index,
            )
        )
        is not None
    ]
    return forest("differences", "Difference in score (B − A) with 95 % interval", marks, is_difference=True)


def sides_section(items: Sequence[Comparison]) -> Section:
    """Score, faults, time and money of both, side by side."""
    seen: dict[tuple[str, str, str], ComparedSide] = {}
    for item in items:
        for side in (item.a, item.b):
            seen.setdefault((item.benchmark, side.run_id, side.side), side)
    headers = (
        "Benchmark", "Model", "Run", "trials", "invalid", "failed", "p50", "p95", "tokens in / out", "spent",
        "cost per answer",
    )  # fmt: skip
    rows = tuple(
        (
            benchmark,
            model,
            run_id,
            count_text(side.trials),
            count_text(side.invalid),
            count_text(side.failed),
            seconds_text(side.latency_seconds.p50),
            seconds_text(side.latency_seconds.p95),
            f"{count_text(side.usage.input_tokens)} / {count_text(side.usage.output_tokens)}",
            cost_text(side.cost_usd, side.cost_basis),
            small_cost_text(side.cost_usd_per_answer, side.cost_basis),
        )
        for (benchmark, run_id, model), side in seen.items()
    )
    note = "Latency and cost are those of all trials, including samples that are not compared above."
    return Section("Cost and latency", (), (Table(headers, rows, words=3),), (), (note, *cost_notes(seen.values())))


def flips_section(item: Comparison) -> Section | None:
    """The samples that only one of the two got right; None when none are shown."""
    rows = tuple(
        (
            way,
            sample.sample_id,
            sample.category or "–",
            _cut(sample.input),
            sample.target or "–",
            _answers(sample.a),
            _answers(sample.b),
        )
        for way, flipped in (("only B", item.flips.gained), ("only A", item.flips.lost))
        for sample in flipped.samples
    )
    if not rows:
        return None
    flips = item.flips
    text = f"Only B is right on {plural(flips.gained.count, 'sample')}, only A on {flips.lost.count:,}."
    headers = ("Right", "Sample", "Category", "Input", "Target", "Answer of A", "Answer of B")
    title = f"Samples that only one got right: {item.b.name} against {item.a.name} on {item.benchmark}"
    shown = f"{len(rows):,} of {flips.count:,} are shown."
    return Section(title, (text,), (Table(headers, rows, words=len(headers)),), (), (shown,))


def _answers(side: FlippedAnswers) -> str:
    return " | ".join(_cut("–" if answer is None else answer) for answer in side.answers)


def _cut(text: str) -> str:
    return text if len(text) <= CUT else f"{text[:CUT]}…"


def _runs(items: Sequence[Comparison]) -> str:
    ids = dict.fromkeys(side.run_id for item in items for side in (item.a, item.b))
    return f"Run {next(iter(ids))}" if len(ids) == 1 else f"Runs {', '.join(ids)}"
