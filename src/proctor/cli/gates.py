"""`--fail-under`: the bars that were given, and `--report`: what the command writes at the end."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from proctor.domain.documents.report import RunReport
    from proctor.runs.gates import GateResult
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


def refuse_unwritable(reports: Sequence[Path], *, is_of_gates: bool = True) -> None:
    """A report that could not be written is a mistake, found before anything is asked."""
    if not reports:
        return
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


def write_reports(opened: Database, run_id: str, reports: Sequence[Path], results: Sequence[GateResult]) -> None:
    """Each report in the format its name says; `.xml` is JUnit with a test case for each gate."""

    def read(reference: str) -> RunReport:
        from proctor.runs.report import read_report

        return read_report(opened, reference)

    write_pages(read, run_id, reports, results)


def write_pages(
    read: Callable[[str], RunReport], run_id: str, reports: Sequence[Path], results: Sequence[GateResult]
) -> None:
    """The same of a report that is read in another way."""
    if not reports:
        return  # what draws charts takes longer to import than a short run takes
    from proctor.cli.pages import put
    from proctor.reports.formats import format_of, page_text

    for path in reports:
        if path.suffix.lower() == JUNIT:
            from proctor.reports.junit import JunitCase, gates_junit

            cases = [JunitCase(item.evaluation, item.gate, problem=item.problem) for item in results]
            put(gates_junit(f"proctor {run_id}", cases), path)
            continue
        from proctor.reports.run_page import run_page

        document = read(run_id)
        put(page_text(run_page(document), document, format_of(path.suffix) or "html"), path)
