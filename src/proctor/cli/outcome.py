"""A run on the terminal: its numbers, what is missing, where it is stored, what to type next."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from proctor.cli.figures import (
    cost_notes,
    cost_text,
    count_text,
    coverage_notes,
    plural,
    seconds_text,
    unanswered_notes,
    until_text,
)
from proctor.cli.hints import resume_command
from proctor.cli.tables import agreement_lines, count_categories, print_categories, print_results
from proctor.cli.terminal import cell, console, fits, plain_table, status_text
from proctor.domain.side import side_of
from proctor.domain.text import visible
from proctor.reports.judge_notes import judge_notes
from proctor.reports.scorer_notes import scorer_notes
from proctor.reports.totals import totals_lines
from proctor.reports.trust import trust_notes

MAX_CATEGORIES = 40
"""More than these would push the totals off the screen that a run ends on."""
LIMITS = {
    "cost_usd": "cost ${}",
    "assume_price": "assumed price {} dollars per million tokens (input/output)",
    "minutes": "{} minutes",
    "concurrency": "{} requests in flight per model",
    "retries": "{} retries per request",
    "timeout_seconds": "{} s per request",
    "requests_per_minute": "{} requests per minute and model",
    "tokens_per_minute": "{} tokens per minute and model",
}


def print_run(document: dict[str, Any]) -> None:
    """What `proctor show` shows."""
    out = console()
    _print_head(out, document)
    if document["error"]:
        out.print(Text(f"  {document['error']}"))
    _print_numbers(out, document)
    for note in scorer_notes(document["evaluations"]):
        out.print(Text(visible(note)))
    if is_resumable(document):
        out.print(f"\nResume: {resume_command(document)}")


def print_outcome(document: dict[str, Any], path: Path) -> None:
    """The result of an execution, where it is kept, and what to type next."""
    out = console()
    _print_head(out, document)
    _print_numbers(out, document, most_categories=MAX_CATEGORIES)
    out.print(Text(f"\nStored in {path}"), soft_wrap=True)
    for purpose, command in _next_steps(document):
        out.print(Text(f"{purpose + ':':<9}{command}"))


def shown_status(document: dict[str, Any]) -> str:
    """The status, or 'interrupted' for a run whose process ended without a word."""
    is_open = document["status"] in ("queued", "running")
    has_lost = any(item["stopped"] for item in document["evaluations"])
    return "interrupted" if is_open and has_lost else str(document["status"])


def is_resumable(document: dict[str, Any]) -> bool:
    """Whether another execution could add anything: trials not asked, or faults that may be gone."""
    is_enough = bool(document.get("until")) and all(outcome["met"] for outcome in document["until"])
    return any((item["stopped"] and not is_enough) or item["failed"] for item in document["evaluations"])


def _print_head(out: Console, document: dict[str, Any]) -> None:
    name = f" ({cell(document['name'])})" if document["name"] else ""
    shown = shown_status(document)
    # A process that was killed could not say how long it took.
    time = "" if shown == "interrupted" and not document["seconds"] else f" in {seconds_text(document['seconds'])}"
    out.print(f"Run [bold]{document['run_id']}[/]{name}: {status_text(shown)}{time}\n")


def _print_numbers(out: Console, document: dict[str, Any], most_categories: int | None = None) -> None:
    evaluations = document["evaluations"]
    print_results(out, evaluations)
    for item in evaluations:
        missing = item["stopped"] + item["pending"]
        if missing:
            state = "not run" if item["stopped"] else "pending"
            who = f"{side_of(item)} on {item['benchmark']}"
            out.print(Text(f"{who}: {missing:,} of {plural(item['trials'], 'trial')} {state}."))
    for line in totals_lines(document):
        out.print(Text(line))
    for note in [*coverage_notes(evaluations), *cost_notes(evaluations), *unanswered_notes(document)]:
        out.print(Text(note))
    for line in [*trust_notes(evaluations), *judge_notes(evaluations), *agreement_lines(evaluations)]:
        out.print(Text(visible(line)))
    categories = count_categories(evaluations)
    if most_categories is None or categories <= most_categories:
        print_categories(out, evaluations)
    else:
        out.print(f"\nThe scores of all {categories:,} categories: proctor show {document['run_id']}")
    for outcome in document.get("until", []):
        out.print(Text(f"\n{until_text(outcome)}"))
    if document.get("until") and not any(item["stopped"] + item["pending"] for item in evaluations):
        out.print(Text("The stop rule did not end the run early: every sample was measured."))


def _next_steps(document: dict[str, Any]) -> list[tuple[str, str]]:
    run_id, evaluations = document["run_id"], document["evaluations"]
    steps = []
    if is_resumable(document):
        steps.append(("Resume", resume_command(document)))
    if any(item["failed"] for item in evaluations):
        steps.append(("Inspect", f"proctor samples {run_id} --outcome failed"))
    elif any(item["scored"] or item["invalid"] for item in evaluations):
        steps.append(("Inspect", f"proctor samples {run_id} --wrong"))
    if any(item["trials"] > item["stopped"] + item["pending"] for item in evaluations):
        steps.append(("Export", f"proctor export {run_id} -f csv"))
    return steps


def print_dry_run(document: dict[str, Any]) -> None:
    """The resolved plan."""
    out = console()
    table = plain_table(("Model", "Benchmark", "Version", "Digest"), ("Samples", "Epochs", "Trials"))
    table.columns[3].no_wrap = True
    table.add_column("Options", overflow="fold")
    for item in document["evaluations"]:
        table.add_row(
            cell(item["model_spec"]), cell(item["benchmark"]), cell(item["version"]), item["digest"][:8],
            count_text(item["samples"]), count_text(item["epochs"]), count_text(item["trials"]),
            cell(_options_text(item)),
        )  # fmt: skip
    if fits(table, out):
        out.print(table)
    else:
        for item in document["evaluations"]:
            _print_resolved(out, item)
    _print_costs(out, document)
    limits = ", ".join(
        LIMITS[name].format(f"{value:g}" if isinstance(value, int | float) else value)
        for name, value in document["limits"].items()
        if value is not None
    )
    out.print(
        f"\n{plural(document['trials'], 'trial')}, {plural(document['estimated_requests'], 'request')} "
        "(not counting retries and cached answers); "
        f"seed {document['seed']}; limits: {limits}."
        f"{_stop_text(document['until'])}\n{_what_happened(document['pilot'])}"
        f"{_missing_keys_text(document['missing_keys'])}"
    )


def _missing_keys_text(variables: Sequence[str]) -> str:
    return f" The run itself needs a key: set {', '.join(variables)}." if variables else ""


def _stop_text(rule: str | None) -> str:
    return f" Stop rule {rule}: the run may end earlier, so these are upper limits." if rule else ""


def _options_text(item: dict[str, Any]) -> str:
    return ", ".join(f"{key}={value}" for key, value in item["settings"].items()) or "none sent"


def _print_resolved(out: Console, item: dict[str, Any]) -> None:
    """One evaluation as a paragraph, for a narrow terminal: names can be copied as they are."""
    out.print(Text(visible(item["model_spec"]), "bold"), soft_wrap=True)
    trials = (
        f"{plural(item['samples'], 'sample')}, {plural(item['epochs'], 'epoch')}, {plural(item['trials'], 'trial')}"
    )
    out.print(Text(visible(f"  on {item['benchmark']} {item['version']}: {trials}")))
    out.print(Text(f"  digest: {item['digest'][:8]}"))
    out.print(Text(visible(f"  options: {_options_text(item)}")))


def _print_costs(out: Console, document: dict[str, Any]) -> None:
    """What each evaluation will cost and why, and all of them together."""
    evaluations = document["evaluations"]
    costs = [part["cost"] for item in evaluations for part in (item, *item["judges"])]
    if all(cost["basis"] == "it costs nothing" for cost in costs):
        out.print("\nEstimated cost: $0.")
        return
    out.print("\nEstimated cost [95 % interval]:")
    for item in evaluations:
        out.print(
            Text(f"  {side_of(item)} on {item['benchmark']}: {_estimate_text(item['cost'])} ({item['cost']['basis']})"),
            soft_wrap=True,
        )
        for part in item["judges"]:
            who = f"judge {part['judge']} ({part['scorer']})"
            out.print(Text(f"    {who}: {_estimate_text(part['cost'])} ({part['cost']['basis']})"), soft_wrap=True)
    if len(costs) > 1:
        total = document["cost"]
        reason = f" ({total['basis']})" if total["value_usd"] is None else ""
        out.print(Text(f"  total: {_estimate_text(total)}{reason}"), soft_wrap=True)


def _estimate_text(cost: dict[str, Any]) -> str:
    if cost["value_usd"] is None:
        return "unknown"
    low, high = cost["ci95_usd"]
    return f"{cost_text(cost['value_usd'])} [{cost_text(low)}, {cost_text(high)}]"


def _what_happened(pilot: dict[str, Any] | None) -> str:
    if pilot is None:
        return "No model was asked and nothing was written."
    asked = plural(pilot["trials"], "trial")
    return f"The pilot run {pilot['run_id']} asked {asked} for {cost_text(pilot['cost_usd'])}; its answers are cached."
