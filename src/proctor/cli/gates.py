"""`--fail-under` and `--fail-on-regression`: what makes the command fail, and `--report`: what it writes at the end."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from proctor.reports.junit import JunitCase
    from proctor.stores.database import Database

JUNIT = ".xml"
"""A report that is no page: a test case for each gate."""


def read_gates(texts: tuple[str, ...]) -> dict[str, float]:
    """The bars by metric; a text of any other form is a mistake in the command."""
    gates: dict[str, float] = {}
    for text in texts:
        name, _, value = text.partition("=")
        try:
            bar = float(value.removesuffix("%")) / (100 if value.endswith("%") else 1)
        except ValueError:
            bar = math.nan
        if not name or not math.isfinite(bar):
            raise click.UsageError(f"--fail-under takes METRIC=VALUE, for example accuracy=0.8, not {text!r}.")
        if not 0 <= bar <= 1:
            raise click.UsageError(f"--fail-under: {name} is between 0 and 1, so it cannot be compared with {value}.")
        if name in gates:
            raise click.UsageError(f"--fail-under names {name} twice.")
        gates[name] = bar
    return gates


def refuse_unknown(gates: Mapping[str, float], known: Sequence[str]) -> None:
    """A gate nothing could ever pass is a mistake, found before anything is asked."""
    from proctor.domain.errors import PlanError, did_you_mean

    for name in gates:
        if name not in known:
            raise PlanError(
                f"--fail-under: there is no metric {name!r}.{did_you_mean(name, known)} There are: {', '.join(known)}."
            )


def check_gates(
    document: dict[str, Any], gates: Mapping[str, float], expected: Sequence[Sequence[str]]
) -> list[JunitCase]:
    """One case for each gate and evaluation; a metric that could not be measured does not pass.

    `expected` are the names of what each evaluation set out to measure.
    """
    from proctor.reports.junit import JunitCase

    cases = []
    for evaluation, names in zip(document["evaluations"], expected, strict=True):
        who = f"{evaluation['model']} on {evaluation['benchmark']}"
        for name, bar in gates.items():
            if name not in names:
                continue  # another benchmark's metric
            # Whether answers can be told to be the same may show only once they are there.
            estimate = evaluation["metrics"].get(name, {"value": None})
            reason = _below(estimate, bar)
            problem = None if reason is None else f"{who}: {name} {reason}."
            cases.append(JunitCase(who, f"{name} is at least {bar:.12g}", problem=problem))
    return cases


def _below(estimate: Mapping[str, Any], bar: float) -> str | None:
    """Why a metric does not pass; it passes only where it does so also with a judge's unreadable verdicts as wrong."""
    from proctor.metrics.rounding import SAME, figure_text

    if estimate["value"] is None:
        return "could not be measured"
    value = figure_text(estimate["value"], limits=(0.0, bar, 1.0))
    if estimate["value"] < bar - SAME:
        return f"is {value} (n={estimate['n']:,}), below {bar:.12g}"
    worst = estimate.get("if_unreadable_wrong")
    if worst is None or worst >= bar - SAME:
        return None
    counted = figure_text(worst, limits=(0.0, bar, 1.0))
    return (
        f"is {value} (n={estimate['n']:,}), but {counted} with its {estimate['unreadable']:,} unreadable judge "
        f"verdicts counted as wrong, below {bar:.12g}"
    )


def check_regression(opened: Database, document: dict[str, Any], baseline: str) -> list[JunitCase]:
    """One case for each evaluation of the run: it fails when it is shown to be worse, or cannot be compared."""
    from proctor.domain.errors import UserError
    from proctor.reports.junit import JunitCase
    from proctor.reports.pairs import Choice
    from proctor.runs.compare import compare_runs

    try:
        choice = Choice(is_gate=True)
        compared = compare_runs(opened, [baseline, document["run_id"]], choice)["comparisons"]
        reason = "that run has no matching evaluation."
    except UserError as error:
        compared, reason = [], str(error)
    title = f"not worse than in run {baseline}"
    cases = []
    for item in document["evaluations"]:
        who = f"{item['model']} on {item['benchmark']}"
        found = [one for one in compared if (one["b"]["model"], one["b"]["digest"]) == (item["model"], item["digest"])]
        problem = None if found else f"{who} could not be compared with run {baseline}: {reason}"
        for one in found:
            if one["n"] == 0:
                problem = f"{who} could not be compared with run {baseline}: {one['verdict']}."
            if one["better"] is not None and one["better"] == one["a"]["name"]:
                problem = f"{who} is worse than in run {baseline}: {one['verdict']}."
            elif (counted := one["if_unreadable_wrong"]) is not None and counted["better"] == one["a"]["name"]:
                problem = (
                    f"{who} is worse than in run {baseline} with unreadable judge verdicts counted as wrong: "
                    f"{counted['verdict']}."
                )
        cases.append(JunitCase(who, title, problem=problem))
    return cases


def refuse_unwritable(reports: Sequence[Path], *, is_of_gates: bool = True) -> None:
    """A report that could not be written is a mistake, found before anything is asked."""
    from proctor import plugins
    from proctor.reports.formats import format_of, report_endings

    for path in reports:
        name = format_of(path.suffix)
        if name is not None:
            plugins.load("reports", name)
        elif not is_of_gates or path.suffix.lower() != JUNIT:
            endings = [*report_endings(), *([JUNIT] if is_of_gates else [])]
            raise click.UsageError(f"--report: {path.name} ends in none of {', '.join(endings)}.")
        if not path.parent.is_dir():
            raise click.UsageError(f"--report: there is no folder {path.parent}.")


def write_reports(opened: Database, run_id: str, reports: Sequence[Path], cases: Sequence[JunitCase]) -> None:
    """Each report in the format its name says; `.xml` is JUnit with a test case for each gate."""
    from proctor.cli.pages import put
    from proctor.reports.formats import format_of, page_text

    for path in reports:
        if path.suffix.lower() == JUNIT:
            from proctor.reports.junit import gates_junit

            put(gates_junit(f"proctor {run_id}", cases), path)
            continue
        from proctor.reports.run_page import run_page
        from proctor.runs.report import read_report

        document = read_report(opened, run_id)
        put(page_text(run_page(document), document, format_of(path.suffix) or "html"), path)
