"""Old and new scores side by side."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.text import Text

from proctor.cli.figures import cost_text, count_text, estimate_text, plural, share_text
from proctor.cli.terminal import cell, console, plain_table


def print_rescored(document: dict[str, Any]) -> None:
    """What `proctor rescore` shows."""
    out = console()
    out.print(f"Run [bold]{document['run_id']}[/]: old and new scores\n")
    names = list(
        dict.fromkeys(
            name
            for item in document["evaluations"]
            for side in ("before", "after")
            for figures in item[side].values()
            for name in figures["metrics"]
        )
    )
    table = plain_table(
        ("Model", "Benchmark", "", "Scorer"),
        (*(f"{name} [95 % interval]" for name in names), "invalid", "not measured"),
    )
    for item in document["evaluations"]:
        for side, title in (("before", "old"), ("after", "new")):
            for scorer, figures in item[side].items():
                total = figures["scored"] + figures["invalid"] + figures["unscored"]
                table.add_row(
                    cell(item["model"]), cell(item["benchmark"]), title, cell(f"{scorer}@{figures['version']}"),
                    *(cell(estimate_text(figures["metrics"].get(name))) for name in names),
                    share_text(figures["invalid"], total), share_text(figures["unscored"], total),
                )  # fmt: skip
    out.print(table)
    out.print()
    for item in document["evaluations"]:
        _print_changes(out, item)
        _print_judges(out, item)
    out.print(_what_counts(document))


def _print_changes(out: Console, item: dict[str, Any]) -> None:
    for change in item["changes"]:
        out.print(
            Text(
                f"{item['model']} on {item['benchmark']}: {count_text(change['changed'])} of "
                f"{plural(change['compared'], 'verdict')} changed from {change['from']} to {change['to']} "
                f"({count_text(change['higher'])} higher, {count_text(change['lower'])} lower)."
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
                    f"cost {cost_text(work['cost_usd'])}."
                )
            )
        agreement = figures.get("agreement")
        if agreement:
            out.print(Text(f"{scorer}: {agreement_text(agreement)}"))


def agreement_text(agreement: dict[str, Any]) -> str:
    """How far a panel agrees, in one sentence."""

    def figure(name: str) -> str:
        value = agreement[name]
        return "undefined" if value is None else f"{value:.3f}"

    kappa = "cohen_kappa" if len(agreement["judges"]) == 2 else "fleiss_kappa"
    title = "Cohen's kappa" if kappa == "cohen_kappa" else "Fleiss' kappa"
    return (
        f"{len(agreement['judges'])} judges, {plural(agreement['n'], 'response')}: unanimous {figure('unanimous')}, "
        f"{title} {figure(kappa)}, Krippendorff's alpha {figure('krippendorff_alpha')} ({agreement['level']})."
    )


def _what_counts(document: dict[str, Any]) -> str:
    run_id = document["run_id"]
    if document["in_force"]:
        return f"The new scores count from now on; the old ones are kept (proctor rescore {run_id} --use …)."
    if document["is_complete"]:
        return f"The old scores go on counting; the new ones are kept (proctor rescore {run_id} --use …)."
    return (
        "The new scores are not complete, so the old ones go on counting "
        f"(proctor rescore {run_id} --use … lets the new ones count all the same)."
    )
