"""A run's report as sections."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from proctor.domain.documents.comparison import Comparisons
from proctor.domain.documents.estimate import MetricEstimate
from proctor.domain.documents.evaluation import EvaluationSummary
from proctor.domain.documents.report import Calibration, CalibrationBin, RunReport
from proctor.domain.documents.run import RunSummary
from proctor.metrics.labels import is_of_repeats, metric_titles, versioned_names
from proctor.reports.charts import Chart, Mark, bars, forest, heat_map, ranges
from proctor.reports.comparison_page import differences_chart, differences_table, notes, sentence
from proctor.reports.figures import (
    NOT_MEASURED,
    cost_notes,
    cost_text,
    count_text,
    coverage_notes,
    estimate_text,
    has_parts,
    number_text,
    seconds_text,
    share_text,
    small_cost_text,
    unanswered_notes,
)
from proctor.reports.frontier import frontier_section
from proctor.reports.judge_notes import judge_notes
from proctor.reports.report_samples import samples_note, shown_sample
from proctor.reports.scorer_notes import rescored_notes
from proctor.reports.sections import Page, Section, Table
from proctor.reports.totals import totals_lines
from proctor.reports.trust import trust_notes

PERCENTILES = ("p50", "p90", "p95", "p99")
STREAMED = ("first token, p50", "tokens/s, p50")


def run_page(document: RunReport) -> Page:
    """Everything about one run, the answer first."""
    names = versioned_names(document.evaluations)
    evaluations = [replace(item, benchmark=name) for item, name in zip(document.evaluations, names, strict=True)]
    document = replace(document, evaluations=evaluations)
    sections = [
        summary_section(document),
        _repeats(evaluations),
        _comparison(document.comparison),
        _categories(evaluations),
        _effort(document),
        frontier_section(evaluations),
        _judges(document),
        _setup(document),
    ]
    name = f" ({document.name})" if document.name else ""
    when = f"{document.created_at:%Y-%m-%d %H:%M}"
    subtitle = f"Run {document.run_id}{name}, {document.status}, started {when} UTC, {seconds_text(document.seconds)}"
    benchmarks = ", ".join(dict.fromkeys(item.benchmark for item in evaluations))
    samples = tuple(shown_sample(item) for item in document.samples.shown)
    return Page(
        f"Results on {benchmarks}",
        subtitle,
        tuple(section for section in sections if section is not None),
        samples,
        samples_note(document.samples),
    )


def _who(item: EvaluationSummary, evaluations: Sequence[EvaluationSummary]) -> str:
    """The model, with the benchmark where there are several."""
    several = len({other.benchmark for other in evaluations}) > 1
    return f"{item.side} on {item.benchmark}" if several else item.side


def _series(evaluations: Sequence[EvaluationSummary]) -> dict[str, int]:
    """One colour and shape for each model, in every chart."""
    models = dict.fromkeys(item.side for item in evaluations)
    return {model: place for place, model in enumerate(models)}


def summary_section(document: RunSummary) -> Section:
    """What every model scored, with the notes that belong to the figures."""
    evaluations = document.evaluations
    names = [name for name in _names(evaluations) if not is_of_repeats(name)]
    titles = metric_titles(evaluations)
    headers = (
        "Model", "Benchmark", *(f"{titles[name]} [95 % interval]" for name in names), "trials", "invalid", "failed",
        "stopped", "cached",
    )  # fmt: skip
    rows = tuple(
        (
            item.side,
            item.benchmark,
            *(estimate_text(item.metrics.get(name)) for name in names),
            count_text(item.trials),
            *(share_text(count, item.done) for count in (item.invalid, item.failed)),
            share_text(item.stopped, item.trials),
            share_text(item.cached, item.done),
        )
        for item in evaluations
    )
    notes = [
        "Failed trials are faults of a provider, the network, a sandbox or a judge; they are left out of every score."
    ]
    if document.error:
        notes.insert(0, f"The run ended with: {document.error}")
    notes += [*rescored_notes(evaluations), *trust_notes(evaluations), *judge_notes(evaluations)]
    notes += [*coverage_notes(evaluations), *unanswered_notes(document)]
    charts = tuple(chart for name in names if (chart := _forest(evaluations, name)) is not None)
    return Section("Summary", (), (Table(headers, rows, words=2),), charts, tuple(notes))


def _names(evaluations: Sequence[EvaluationSummary]) -> list[str]:
    return list(dict.fromkeys(name for item in evaluations for name in item.metrics))


def _repeats(evaluations: Sequence[EvaluationSummary]) -> Section | None:
    """What several answers to each sample say together: a row for each measure, a column for each evaluation."""
    names = [name for name in _names(evaluations) if is_of_repeats(name)]
    if not names:
        return None
    several = [item for item in evaluations if item.epochs > 1]
    headers = ("Measure", *(_who(item, evaluations) for item in several))
    rows = tuple((name, *(estimate_text(item.metrics.get(name)) for item in several)) for name in names)
    note = (
        "pass@k: at least one of k answers is right; pass^k: all of k are; majority@k: the most frequent of k is; "
        "consistency: the share of pairs of answers that agree."
    )
    return Section("Repeated answers", (), (Table(headers, rows, words=1),), (), (note,))


def _forest(evaluations: Sequence[EvaluationSummary], metric: str) -> Chart | None:
    series = _series(evaluations)
    marks = [
        mark
        for item in evaluations
        for estimate in [item.metrics.get(metric)]
        if (mark := Mark.of(_who(item, evaluations), estimate, estimate_text(estimate), series[item.side])) is not None
    ]
    title = metric_titles(evaluations)[metric]
    return forest(f"scores-{metric}", f"{title} with 95 % interval", marks) if marks else None


def _comparison(comparison: Comparisons) -> Section | None:
    items = comparison.comparisons
    if not items:
        return None
    return Section(
        "Comparison",
        tuple(sentence(item) for item in items),
        (differences_table(items),),
        (differences_chart(items),),
        notes(comparison),
    )


def _categories(evaluations: Sequence[EvaluationSummary]) -> Section | None:
    cells: dict[tuple[str, str], dict[str, MetricEstimate]] = {}
    for item in filter(has_parts, evaluations):
        for category, estimates in item.categories.items():
            cells.setdefault((item.benchmark, category), {})[item.side] = next(iter(estimates.values()))
    if not cells:
        return None
    models = list(_series(evaluations))
    several = len({benchmark for benchmark, _ in cells}) > 1
    labels = [f"{benchmark}: {category}" if several else category for benchmark, category in cells]
    table = Table(
        ("Benchmark", "Category", *models),
        tuple((*key, *(estimate_text(found.get(model)) for model in models)) for key, found in cells.items()),
        words=2,
    )
    values = [[_heat(found.get(model)) for model in models] for found in cells.values()]
    chart = heat_map("categories", "Scores by category", labels, models, values)
    return Section("Categories", (), (table,), (chart,))


def _heat(estimate: MetricEstimate | None) -> tuple[float, str] | None:
    if estimate is None or estimate.value is None:
        return None
    return estimate.value, f"{number_text(estimate.value)} (n={estimate.n:,})"


def _effort(document: RunReport) -> Section:
    evaluations = document.evaluations
    streamed = any(item.first_token_seconds.p50 is not None for item in evaluations)
    headers = (
        "Model", "Benchmark", "answered", *PERCENTILES, *(STREAMED if streamed else ()), "input tokens",
        "output tokens", "spent", "cost per answer",
    )  # fmt: skip
    rows = tuple(
        (
            item.side,
            item.benchmark,
            estimate_text(item.rates.answered),
            *(seconds_text(getattr(item.latency_seconds, name)) for name in PERCENTILES),
            *(_streamed_texts(item) if streamed else ()),
            count_text(item.usage.input_tokens),
            count_text(item.usage.output_tokens),
            cost_text(item.cost_usd, item.cost_basis),
            small_cost_text(item.cost_per_answer_usd, item.cost_basis),
        )
        for item in evaluations
    )
    charts = [chart for chart in (_latency_chart(evaluations), _cost_chart(evaluations)) if chart is not None]
    note = "Latencies leave out answers from the cache. A cost is unknown where the price is."
    notes = (*totals_lines(document), note, *cost_notes(evaluations))
    return Section("Latency and cost", (), (Table(headers, rows, words=2),), tuple(charts), notes)


def _streamed_texts(item: EvaluationSummary) -> tuple[str, str]:
    speed = item.tokens_per_second.p50
    return seconds_text(item.first_token_seconds.p50), NOT_MEASURED if speed is None else f"{speed:,.0f}"


def _latency_chart(evaluations: Sequence[EvaluationSummary]) -> Chart | None:
    series = _series(evaluations)
    marks = []
    for item in evaluations:
        usual = item.latency_seconds.p50
        if usual is not None:
            slow = item.latency_seconds.p95 or usual
            text = f"p50 {seconds_text(usual)}, p95 {seconds_text(slow)}"
            marks.append(Mark(_who(item, evaluations), usual, usual, slow, text, series[item.side]))
    return ranges("latency", "Latency: p50 (mark) to p95 (end)", marks, seconds_text) if marks else None


def _cost_chart(evaluations: Sequence[EvaluationSummary]) -> Chart | None:
    series = _series(evaluations)
    marks = [
        Mark(_who(item, evaluations), cost, 0.0, cost, small_cost_text(cost, item.cost_basis), series[item.side])
        for item in evaluations
        if (cost := item.cost_per_answer_usd) is not None
    ]
    # What costs nothing is in the table; bars of nothing would have no scale.
    return bars("cost", "Cost per answer", marks, small_cost_text) if any(mark.value for mark in marks) else None


def _judges(document: RunReport) -> Section | None:
    rows = tuple(
        (
            item.side, item.benchmark, scorer, judge, count_text(work.verdicts),
            count_text(work.unreadable), count_text(work.undecided), cost_text(work.cost_usd, work.cost_basis),
        )
        for item in document.evaluations
        for scorer, judges in item.judges.items()
        for judge, work in judges.items()
    )  # fmt: skip
    if not rows:
        return None
    headers = ("Model", "Benchmark", "Scorer", "Judge", "verdicts", "unreadable verdicts", "undecided", "cost")
    tables = [Table(headers, rows, words=4)]
    agreement = _agreement(document.evaluations)
    if agreement.rows:
        tables.append(agreement)
    calibration = document.calibration
    tables += [_calibration_table(one) for one in calibration]
    charts = tuple(_calibration_chart(one, place) for place, one in enumerate(calibration))
    note = "No other scorer scored the same responses, so the judge's agreement with a reference was not measured."
    return Section("Judges", (), tuple(tables), charts, () if calibration else (note,))


def _agreement(evaluations: Sequence[EvaluationSummary]) -> Table:
    names = {"n": "answers judged", "complete": "with a readable verdict of every judge", "unanimous": "unanimous"}
    names |= {
        "cohen_kappa": "Cohen's kappa",
        "fleiss_kappa": "Fleiss' kappa",
        "krippendorff_alpha": "Krippendorff's alpha",
    }
    rows = tuple(
        (
            item.side,
            item.benchmark,
            scorer,
            title,
            count_text(value) if isinstance(value, int) else number_text(value),
        )
        for item in evaluations
        for scorer, agreed in item.agreement.items()
        for name, title in names.items()
        for value in [getattr(agreed, name)]
    )
    return Table(
        ("Model", "Benchmark", "Scorer", "Agreement", "value"), rows, words=4, title="Agreement between judges"
    )


def _calibration_table(one: Calibration) -> Table:
    rows = tuple((_bin(part), estimate_text(part.reference)) for part in one.bins)
    total = ("agreement on right or wrong", estimate_text(one.agreement))
    title = f"{one.judge} against {one.reference}: {one.model} on {one.benchmark}"
    return Table(("Judge's score", f"{one.reference} [95 % interval]"), (*rows, total), title=title)


def _calibration_chart(one: Calibration, place: int) -> Chart:
    marks = [
        mark
        for part in one.bins
        if (mark := Mark.of(_bin(part), part.reference, estimate_text(part.reference))) is not None
    ]
    title = f"{one.reference} by the score of {one.judge}: {one.model} on {one.benchmark}"
    return forest(f"calibration-{place}", title, marks)


def _bin(part: CalibrationBin) -> str:
    return f"{part.low:.1f} to {part.high:.1f}"


def _setup(document: RunReport) -> Section:
    headers = ("Model", "Benchmark", "Version", "Digest (samples/prompts)", "Epochs", "Options", "Scorers")
    rows = tuple(
        (
            item.side,
            item.benchmark,
            item.version,
            item.digest.rpartition("@")[2],
            count_text(item.epochs),
            ", ".join(f"{key}={value}" for key, value in item.options.items()) or "none sent",
            ", ".join(f"{name} {version}" for name, version in item.scorers.items()),
        )
        for item in document.setup
    )
    note = f"Inspect: proctor show {document.run_id}, proctor samples {document.run_id}."
    return Section("Configuration", (), (Table(headers, rows, words=len(headers)),), (), (note,))
