"""Result tables, in the widest form the terminal has room for; no name and no number is ever cut off."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from proctor.cli.figures import cost_text, count_text, estimate_text, seconds_text, share_text
from proctor.cli.terminal import cell, fits, plain_table
from proctor.domain.documents.estimate import MetricEstimate
from proctor.domain.documents.evaluation import EvaluationFigures, EvaluationSummary
from proctor.domain.documents.judging import JudgeAgreement
from proctor.domain.text import visible
from proctor.metrics.labels import is_of_repeats, metric_titles, versioned_names
from proctor.metrics.rounding import decimal_text, percent_text
from proctor.reports.figures import has_parts

FOLDED_WIDTH = 22
"""Names are folded at this width where a table is too wide otherwise."""
COUNTS = ("invalid", "failed")
EFFORT = ("cached", "p50", "p95", "tokens in / out", "cost")
Evaluations = Sequence[EvaluationSummary]


def print_results(out: Console, evaluations: Evaluations) -> None:
    """Every metric with its interval and n, what could not be counted beside it, what it took, what repeats say."""
    _print_each(out, evaluations)
    names = [name for name in _metric_names(evaluations) if is_of_repeats(name)]
    if names:
        out.print()
        table = _repeats_by_model(evaluations, names)
        out.print(table if fits(table, out) else _repeats_in_rows(evaluations, names))


def _print_each(out: Console, evaluations: Evaluations) -> None:
    for tables in _layouts(evaluations):
        if all(fits(table, out) for table in tables):
            for index, table in enumerate(tables):
                out.print(*([""] if index else []), table, sep="\n")
            return
    for evaluation in evaluations:
        _print_block(out, evaluation)


def print_categories(out: Console, evaluations: Evaluations) -> None:
    """The first metric by category: a column for each model where there is room, else a row."""
    if not _category_rows(evaluations):
        return
    side_by_side = _categories_by_model(evaluations)
    out.print()
    out.print(side_by_side if fits(side_by_side, out) else _categories_in_rows(evaluations))


def count_categories(evaluations: Evaluations) -> int:
    """How many rows a table by category has."""
    return len(_category_rows(evaluations))


def agreement_lines(evaluations: Evaluations) -> list[str]:
    """How far several judges agree, for each evaluation and scorer that had some."""
    return [
        f"{item.side} on {benchmark}, {scorer}: {_agreement_text(agreed)}"
        for item, benchmark in zip(evaluations, benchmark_names(evaluations), strict=True)
        for scorer, agreed in item.agreement.items()
    ]


def _agreement_text(agreed: JudgeAgreement) -> str:
    if agreed.unanimous is None:
        return f"no answer has a readable verdict of all {len(agreed.judges)} judges."
    named = {
        "Cohen's kappa": agreed.cohen_kappa,
        "Fleiss' kappa": None if agreed.cohen_kappa is not None else agreed.fleiss_kappa,
        "Krippendorff's alpha": agreed.krippendorff_alpha,
    }
    figures = ", ".join(f"{name} {decimal_text(value, 2)}" for name, value in named.items() if value is not None)
    unanimous = percent_text(agreed.unanimous, 0)
    share = f"{len(agreed.judges)} judges agree on {unanimous} of {agreed.complete:,} answers"
    return f"{share} ({figures})." if figures else f"{share}."


def benchmark_names(evaluations: Evaluations) -> list[str]:
    """Each evaluation's benchmark, with its version or its selection where the name alone would be ambiguous."""
    names = versioned_names(evaluations)
    pairs = [(item.side, name) for item, name in zip(evaluations, names, strict=True)]
    return [
        f"{name} ({_selection_text(item)})" if pairs.count((item.side, name)) > 1 else name
        for item, name in zip(evaluations, names, strict=True)
    ]


def _selection_text(evaluation: EvaluationFigures) -> str:
    selection = evaluation.selection
    parts = [f"{key}={'|'.join(values)}" for key, values in (selection.where or {}).items()]
    parts += [f"{key}={value}" for key, value in (selection.parameters or {}).items()]
    counts = {"limit": selection.limit, "shots": selection.shots}
    parts += [f"{key}={value}" for key, value in counts.items() if value is not None]
    return ", ".join(parts) or "everything"


def _layouts(evaluations: Evaluations) -> Iterator[list[Table]]:
    yield [_table(evaluations, [*COUNTS, *EFFORT])]
    yield [_table(evaluations, COUNTS), _table(evaluations, EFFORT, has_metrics=False)]
    yield [
        _table(evaluations, COUNTS, widest=FOLDED_WIDTH),
        _table(evaluations, EFFORT, has_metrics=False, widest=FOLDED_WIDTH),
    ]


def _table(
    evaluations: Evaluations, figures: Sequence[str], *, has_metrics: bool = True, widest: int | None = None
) -> Table:
    names = [name for name in _metric_names(evaluations) if not is_of_repeats(name)] if has_metrics else []
    table = plain_table(("Model", "Benchmark"), widest=widest)
    titles = metric_titles(evaluations)
    for name in names:
        table.add_column(cell(f"{titles[name]} [95 % interval]"), no_wrap=True)
    for title in figures:
        table.add_column(title, justify="right", no_wrap=True)
    for item, benchmark in zip(evaluations, benchmark_names(evaluations), strict=True):
        values = _figures(item)
        estimates = (cell(estimate_text(item.metrics.get(name))) for name in names)
        table.add_row(cell(item.side), cell(benchmark), *estimates, *(values[title] for title in figures))
    return table


def _figures(item: EvaluationSummary) -> dict[str, str]:
    latency, usage, done = item.latency_seconds, item.usage, item.done
    return {
        "invalid": share_text(item.invalid, done),
        "failed": share_text(item.failed, done),
        "cached": share_text(item.cached, done),
        "p50": seconds_text(latency.p50),
        "p95": seconds_text(latency.p95),
        "tokens in / out": f"{count_text(usage.input_tokens)} / {count_text(usage.output_tokens)}",
        "cost": cost_text(item.cost_usd, item.cost_basis),
    }


def _print_block(out: Console, item: EvaluationSummary) -> None:
    """One evaluation as a paragraph: for many metrics, long names or a narrow terminal."""
    out.print(Text(visible(item.title), "bold"))
    for name, estimate in item.metrics.items():
        if not is_of_repeats(name):
            out.print(Text(f"  {estimate.title or name}  {estimate_text(estimate)}"))
    for titles in (COUNTS, EFFORT):
        values = _figures(item)
        out.print(Text("  " + ", ".join(f"{title} {values[title]}" for title in titles)))


def _metric_names(evaluations: Evaluations) -> list[str]:
    return list(dict.fromkeys(name for item in evaluations for name in item.metrics))


def _repeated(evaluations: Evaluations) -> list[tuple[str, Mapping[str, MetricEstimate]]]:
    """The evaluations of several epochs, each by its model, and by its benchmark where there are more."""
    named = zip(evaluations, benchmark_names(evaluations), strict=True)
    is_alone = len(set(benchmark_names(evaluations))) == 1
    return [
        (item.side if is_alone else f"{item.side} on {benchmark}", item.metrics)
        for item, benchmark in named
        if item.epochs > 1
    ]


def _repeats_by_model(evaluations: Evaluations, names: Sequence[str]) -> Table:
    repeated = _repeated(evaluations)
    table = plain_table(("Repeats",))
    for who, _ in repeated:
        table.add_column(cell(who), no_wrap=True)
    for name in names:
        table.add_row(cell(name), *(cell(estimate_text(metrics.get(name))) for _, metrics in repeated))
    return table


def _repeats_in_rows(evaluations: Evaluations, names: Sequence[str]) -> Table:
    table = plain_table(("Repeats", "Of"), widest=FOLDED_WIDTH)
    table.add_column("value", no_wrap=True)
    for name in names:
        for who, metrics in _repeated(evaluations):
            if name in metrics:
                table.add_row(cell(name), cell(who), cell(estimate_text(metrics[name])))
    return table


def _categories_by_model(evaluations: Evaluations) -> Table:
    rows = _category_rows(evaluations)
    models = list(dict.fromkeys(item.side for item in evaluations))
    benchmarks = {benchmark for benchmark, _ in rows}
    table = plain_table(("Benchmark", "Category") if len(benchmarks) > 1 else ("Category",))
    for model in models:
        table.add_column(cell(model), no_wrap=True)
    for (benchmark, category), estimates in rows.items():
        names = (benchmark, category) if len(benchmarks) > 1 else (category,)
        table.add_row(*map(cell, names), *(cell(estimate_text(estimates.get(model))) for model in models))
    return table


def _categories_in_rows(evaluations: Evaluations) -> Table:
    rows = _category_rows(evaluations)
    benchmarks = {benchmark for benchmark, _ in rows}
    titles = ("Benchmark", "Category", "Model") if len(benchmarks) > 1 else ("Category", "Model")
    table = plain_table(titles, widest=FOLDED_WIDTH)
    table.add_column("score", no_wrap=True)
    for (benchmark, category), estimates in rows.items():
        for model, estimate in estimates.items():
            names = (benchmark, category, model) if len(benchmarks) > 1 else (category, model)
            table.add_row(*map(cell, names), cell(estimate_text(estimate)))
    return table


def _category_rows(evaluations: Evaluations) -> dict[tuple[str, str], dict[str, MetricEstimate | None]]:
    """The first metric's estimates by benchmark and category, then by model; a lone category repeats the total."""
    rows: dict[tuple[str, str], dict[str, MetricEstimate | None]] = {}
    for item, benchmark in zip(evaluations, benchmark_names(evaluations), strict=True):
        if not has_parts(item):
            continue
        for category, estimates in item.categories.items():
            rows.setdefault((benchmark, category), {})[item.side] = next(iter(estimates.values()), None)
    return rows
