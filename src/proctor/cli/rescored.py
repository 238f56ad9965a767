"""Old and new scores side by side."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.text import Text

from proctor.cli.figures import basis_of, cost_text, count_text, estimate_text, plural, share_text
from proctor.cli.terminal import cell, console, plain_table
from proctor.metrics.rounding import decimal_text
from proctor.reports.judge_notes import undecided_text
from proctor.reports.labels import metric_titles


def print_rescored(document: dict[str, Any]) -> None:
    """What `proctor rescore` shows."""
    out = console()
    out.print(f"Run [bold]{document['run_id']}[/]: old and new scores")
    for item in document["evaluations"]:
        out.print(Text(f"\n{item['side']} on {item['benchmark']}"))
        _print_table(out, item)
        _print_changes(out, item)
        _print_judges(out, item)
    out.print(f"\n{_what_counts(document)}")


def _print_table(out: Console, item: dict[str, Any]) -> None:
    sides = [("old", *pair) for pair in item["before"].items()] + [("new", *pair) for pair in item["after"].items()]
    names = list(dict.fromkeys(name for _, _, figures in sides for name in figures["metrics"]))
    titles = metric_titles([figures for _, _, figures in sides])
    headers = (*(f"{titles[name]} [95 % interval]" for name in names), "invalid", "not measured")
    table = plain_table(("", "Scorer"), headers)
    for side, scorer, figures in sides:
        total = figures["scored"] + figures["invalid"] + figures["unscored"]
        table.add_row(
            side,
            cell(f"{scorer}@{figures['version']}"),
            *(cell(estimate_text(figures["metrics"].get(name))) for name in names),
            share_text(figures["invalid"], total),
            share_text(figures["unscored"], total),
        )
    out.print(table)


def _print_changes(out: Console, item: dict[str, Any]) -> None:
    for change in item["changes"]:
        out.print(
            Text(
                f"{count_text(change['changed'])} of {plural(change['compared'], 'score')} changed: "
                f"{count_text(change['higher'])} higher, {count_text(change['lower'])} lower "
                f"({change['to'].partition('@')[0]} against {change['from'].partition('@')[0]})."
            )
        )


def _print_judges(out: Console, item: dict[str, Any]) -> None:
    for scorer, figures in item["after"].items():
        for judge, work in figures.get("judges", {}).items():
            tokens = work["usage"]
            out.print(
                Text(
                    f"{scorer} by {judge}: {plural(work['verdicts'], 'verdict')}, {count_text(work['unreadable'])} "
                    f"unreadable, {plural(work['requests'], 'request')}, {count_text(work['cached'])} cached, tokens "
                    f"{count_text(tokens['input_tokens'])} / {count_text(tokens['output_tokens'])}, "
                    f"cost {cost_text(work['cost_usd'], basis_of(work))}."
                )
            )
            if work["undecided"]:
                out.print(Text(f"{scorer} by {judge}: {undecided_text(work)}."))
        agreement = figures.get("agreement")
        if agreement:
            out.print(Text(f"{scorer}: {agreement_text(agreement)}"))


def agreement_text(agreement: dict[str, Any]) -> str:
    """How far a panel agrees, in one sentence."""

    def figure(name: str) -> str:
        value = agreement[name]
        return "undefined" if value is None else decimal_text(value)

    kappa = "cohen_kappa" if len(agreement["judges"]) == 2 else "fleiss_kappa"
    title = "Cohen's kappa" if kappa == "cohen_kappa" else "Fleiss' kappa"
    return (
        f"{len(agreement['judges'])} judges, {plural(agreement['n'], 'response')}: unanimous {figure('unanimous')}, "
        f"{title} {figure(kappa)}, Krippendorff's alpha {figure('krippendorff_alpha')} ({agreement['level']})."
    )


def _what_counts(document: dict[str, Any]) -> str:
    run_id = document["run_id"]
    if document["in_force"]:
        return f"The new scores are now in force; the old ones are kept (proctor rescore {run_id} --use …)."
    if document["is_complete"]:
        return f"The old scores remain in force; the new ones are kept (proctor rescore {run_id} --use …)."
    return (
        "The new scores are incomplete, so the old ones remain in force "
        f"(proctor rescore {run_id} --use … puts the new ones in force anyway)."
    )
