"""Result tables."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from proctor.cli.figures import cost_text, count_text, estimate_text, seconds_text, share_text

STATUS_COLOURS = {"completed": "green", "running": "cyan", "queued": "cyan", "failed": "red", "cancelled": "yellow"}
PLAIN_WIDTH = 200


def console(*, stderr: bool = False) -> Console:
    """A terminal keeps its width; a file or a pipe gets lines that are not broken."""
    stream = sys.stderr if stderr else sys.stdout
    return Console(stderr=stderr, width=None if stream.isatty() else PLAIN_WIDTH, highlight=False, soft_wrap=False)


def status_text(status: str) -> str:
    return f"[{STATUS_COLOURS.get(status, 'white')}]{status}[/]"


def results_table(evaluations: list[dict[str, Any]]) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    for title in ("Model", "Benchmark"):
        table.add_column(title, overflow="fold")
    names = list(dict.fromkeys(name for item in evaluations for name in item["metrics"]))
    for name in names:
        table.add_column(f"{name} [95 % interval]".replace("[", "\\["), no_wrap=True)
    for title in ("invalid", "failed", "cached", "p50", "p95", "tokens in / out", "cost"):
        table.add_column(title, justify="right", no_wrap=True)
    for item in evaluations:
        latency, usage = item["latency_seconds"], item["usage"]
        table.add_row(
            escape(item["model"]),
            escape(item["benchmark"]),
            *(escape(estimate_text(item["metrics"].get(name))) for name in names),
            share_text(item["invalid"], item["trials"]),
            share_text(item["failed"], item["trials"]),
            share_text(item["cached"], item["trials"]),
            seconds_text(latency.get("p50")),
            seconds_text(latency.get("p95")),
            f"{count_text(usage['input_tokens'])} / {count_text(usage['output_tokens'])}",
            cost_text(item["cost_usd"]),
        )
    return table


def categories_table(evaluations: list[dict[str, Any]]) -> Table | None:
    """One row a category, one column a model; None when there are no categories."""
    if not any(item["categories"] for item in evaluations):
        return None
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("Benchmark", overflow="fold")
    table.add_column("Category", overflow="fold")
    models = list(dict.fromkeys(item["model"] for item in evaluations))
    for model in models:
        table.add_column(escape(model), no_wrap=True)
    rows = list(dict.fromkeys((item["benchmark"], name) for item in evaluations for name in item["categories"]))
    for benchmark, category in rows:
        cells = [_category_cell(evaluations, benchmark, category, model) for model in models]
        table.add_row(escape(benchmark), escape(category), *cells)
    return table


def _category_cell(evaluations: list[dict[str, Any]], benchmark: str, category: str, model: str) -> str:
    for item in evaluations:
        if item["benchmark"] == benchmark and item["model"] == model and category in item["categories"]:
            return escape(estimate_text(next(iter(item["categories"][category].values()))))
    return escape(estimate_text(None))


def print_run(document: dict[str, Any]) -> None:
    out = console()
    title = f"Run [bold]{document['run_id']}[/]"
    if document["name"]:
        title += f" ({escape(document['name'])})"
    out.print(f"{title}: {status_text(document['status'])} in {seconds_text(document['seconds'])}")
    if document["error"]:
        out.print(f"  {escape(document['error'])}")
    out.print()
    out.print(results_table(document["evaluations"]))
    for item in document["evaluations"]:
        missing = item["stopped"] + item["pending"]
        if missing:
            state = "not asked" if item["stopped"] else "still to come"
            out.print(
                f"{escape(item['model'])} on {escape(item['benchmark'])}: {missing:,} of {item['trials']:,} trials {state}."
            )
    categories = categories_table(document["evaluations"])
    if categories is not None:
        out.print()
        out.print(categories)


def print_outcome(document: dict[str, Any], path: Path) -> None:
    """The result of an execution, where it is kept, and what to type next."""
    print_run(document)
    out = console()
    run_id = document["run_id"]
    out.print(f"\nKept in {escape(str(path))}")
    if document["status"] != "completed":
        out.print(f"Go on with:   proctor resume {run_id}")
    wrong = any(item["failed"] for item in document["evaluations"])
    out.print(f"Look closer:  proctor samples {run_id}" + (" --outcome failed" if wrong else " --wrong"))
    out.print(f"Take it away: proctor export {run_id} -f csv")


def print_dry_run(document: dict[str, Any]) -> None:
    out = console()
    table = Table(box=None, header_style="bold", pad_edge=False)
    for title in ("Model", "Benchmark", "Version", "Content"):
        table.add_column(title, overflow="fold")
    for title in ("Samples", "Epochs", "Trials"):
        table.add_column(title, justify="right")
    table.add_column("Options", overflow="fold")
    for item in document["evaluations"]:
        options = ", ".join(f"{key}={value}" for key, value in item["options"].items()) or "the provider's defaults"
        table.add_row(
            escape(item["model_spec"]), escape(item["benchmark"]), item["version"], item["digest"][:12],
            count_text(item["samples"]), count_text(item["epochs"]), count_text(item["trials"]), escape(options),
        )  # fmt: skip
    out.print(table)
    out.print(
        f"\n{document['trials']:,} trials, about {document['estimated_requests']:,} requests (retries and cached answers "
        f"not counted), seed {document['seed']}. Nothing was asked or written."
    )
