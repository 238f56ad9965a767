"""A run on the terminal: its numbers, what is missing, where it is stored, what to type next."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from proctor.cli.figures import (
    cost_notes,
    coverage_notes,
    plural,
    seconds_text,
    unanswered_notes,
    until_text,
)
from proctor.cli.hints import resume_command
from proctor.cli.tables import agreement_lines, count_categories, print_categories, print_results
from proctor.cli.terminal import cell, console, status_text
from proctor.domain.documents.run import RunSummary
from proctor.domain.text import visible
from proctor.reports.judge_notes import judge_notes
from proctor.reports.scorer_notes import scorer_notes
from proctor.reports.totals import totals_lines
from proctor.reports.trust import trust_notes

MAX_CATEGORIES = 40
"""More than these would push the totals off the screen that a run ends on."""


def print_run(run: RunSummary) -> None:
    """What `proctor show` shows."""
    out = console()
    _print_head(out, run)
    if run.error:
        out.print(Text(f"  {run.error}"))
    _print_numbers(out, run)
    for note in scorer_notes(run.evaluations):
        out.print(Text(visible(note)))
    if is_resumable(run):
        out.print(f"\nResume: {resume_command(run)}")


def print_outcome(run: RunSummary, where: str) -> None:
    """The result of an execution, where it is kept, and what to type next."""
    out = console()
    _print_head(out, run)
    _print_numbers(out, run, most_categories=MAX_CATEGORIES)
    out.print(Text(f"\nStored in {where}"), soft_wrap=True)
    for purpose, command in _next_steps(run):
        out.print(Text(f"{purpose + ':':<9}{command}"))


def shown_status(run: RunSummary) -> str:
    """The status, or 'interrupted' for a run whose process ended without a word."""
    is_open = run.status in ("queued", "running")
    has_lost = any(item.stopped for item in run.evaluations)
    return "interrupted" if is_open and has_lost else run.status.value


def is_resumable(run: RunSummary) -> bool:
    """Whether another execution could add anything: trials not asked, or faults that may be gone."""
    is_enough = bool(run.until) and all(outcome.met for outcome in run.until or ())
    return any((item.stopped and not is_enough) or item.failed for item in run.evaluations)


def _print_head(out: Console, run: RunSummary) -> None:
    name = f" ({cell(run.name)})" if run.name else ""
    shown = shown_status(run)
    # A process that was killed could not say how long it took.
    time = "" if shown == "interrupted" and not run.seconds else f" in {seconds_text(run.seconds)}"
    out.print(f"Run [bold]{run.run_id}[/]{name}: {status_text(shown)}{time}\n")


def _print_numbers(out: Console, run: RunSummary, most_categories: int | None = None) -> None:
    evaluations = run.evaluations
    print_results(out, evaluations)
    for item in evaluations:
        missing = item.stopped + item.pending
        if missing:
            state = "not run" if item.stopped else "pending"
            out.print(Text(f"{item.title}: {missing:,} of {plural(item.trials, 'trial')} {state}."))
    for line in totals_lines(run):
        out.print(Text(line))
    for note in [*coverage_notes(evaluations), *cost_notes(evaluations), *unanswered_notes(run)]:
        out.print(Text(note))
    for line in [*trust_notes(evaluations), *judge_notes(evaluations), *agreement_lines(evaluations)]:
        out.print(Text(visible(line)))
    categories = count_categories(evaluations)
    if most_categories is None or categories <= most_categories:
        print_categories(out, evaluations)
    else:
        out.print(f"\nThe scores of all {categories:,} categories: proctor show {run.run_id}")
    for outcome in run.until or ():
        out.print(Text(f"\n{until_text(outcome)}"))
    if run.until and not any(item.stopped + item.pending for item in evaluations):
        out.print(Text("The stop rule did not end the run early: every sample was measured."))


def _next_steps(run: RunSummary) -> list[tuple[str, str]]:
    run_id, evaluations = run.run_id, run.evaluations
    steps = []
    if is_resumable(run):
        steps.append(("Resume", resume_command(run)))
    if any(item.failed for item in evaluations):
        steps.append(("Inspect", f"proctor samples {run_id} --outcome failed"))
    elif any(item.scored or item.invalid for item in evaluations):
        steps.append(("Inspect", f"proctor samples {run_id} --wrong"))
    if any(item.trials > item.stopped + item.pending for item in evaluations):
        steps.append(("Export", f"proctor export {run_id} -f csv"))
    return steps
