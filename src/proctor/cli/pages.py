"""Pages of a report: on the terminal, or into a file in the format that was asked for."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from proctor.cli.echo import echo
from proctor.cli.plugin_names import PluginName

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable

    from proctor.reports.sections import Page, Section, Table

F = TypeVar("F", bound=Callable[..., Any])

output_option = click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="A file; standard output if left out.",
)  # fmt: skip


theme_option = click.option("--theme", type=PluginName("themes"), help="The colours of an HTML page.")


def format_option(otherwise: str = "a table") -> Callable[[F], F]:
    """`-f FORMAT`, one of a report's; `otherwise` says what is written without it and without a file."""
    return click.option(
        "-f", "--format", "format_name", type=PluginName("reports"),
        help=f"The format; if left out, by the ending of FILE, or {otherwise}.",
    )  # fmt: skip


def chosen_format(given: str | None, output: Path | None, *, as_json: bool = False) -> str | None:
    """What `-f`, `--json` and the ending of the file ask for; None where nothing does, so on the terminal."""
    from proctor.reports.formats import format_of, report_endings

    if as_json:
        if given not in (None, "json"):
            raise click.UsageError(f"--json and -f {given} contradict each other: leave one out.")
        return "json"
    if given is not None or output is None:
        return given
    found = format_of(output.suffix)
    if found is None:
        endings = ", ".join(report_endings())
        raise click.UsageError(f"-o: {output.name} ends in none of {endings}: choose the format with -f.")
    return found


def put(text: str, output: Path | None) -> None:
    """Write to the file, or to standard output when none is named."""
    if output is None:
        sys.stdout.flush()
        sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))
        sys.stdout.buffer.flush()
        return
    from proctor.domain.errors import UserError

    try:
        output.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise UserError(f"{output} cannot be written: {error.strerror}.") from None
    echo(f"Written to {output}.", err=True)


def print_page(page: Page) -> None:
    """The page on the terminal, without its charts."""
    from rich.text import Text

    from proctor.cli.terminal import console
    from proctor.domain.text import visible

    out = console()
    for index, section in enumerate(page.sections):
        out.print(*([""] if index else []), Text(visible(section.title), "bold"), sep="\n")
        _print_section(out, section)


_TONES = {"good": "bold green", "bad": "bold red"}


def _print_section(out: Console, section: Section) -> None:
    from rich.text import Text

    from proctor.domain.text import visible

    for place, text in enumerate(section.text):
        out.print(Text(visible(text), _TONES.get(section.tone, "") if place == 0 else ""))
    for table in section.tables:
        _print_table(out, table)
    for note in section.notes:
        out.print(Text(visible(note), "dim"))


def _print_table(out: Console, table: Table) -> None:
    """Whole where it fits; else the figures in several tables under one another; else a paragraph for each row."""
    from rich.text import Text

    from proctor.domain.text import visible

    figures = list(range(table.words, len(table.headers)))
    if not figures:
        out.print(_shown(table, []))  # words may be folded
        return
    groups = _groups(out, table, figures)
    if groups is not None:
        for group in groups:
            out.print(_shown(table, group))
        return
    for row in table.rows:
        for title, value in zip(table.headers, row, strict=True):
            out.print(Text.assemble((f"  {title}: ", "bold"), visible(value)))
        out.print()


def _groups(out: Console, table: Table, figures: list[int]) -> list[list[int]] | None:
    """The columns of figures, as many together as there is room for; None when one alone is too wide."""
    from proctor.cli.terminal import fits

    groups: list[list[int]] = [[]]
    for column in figures:
        if fits(_shown(table, [*groups[-1], column]), out):
            groups[-1].append(column)
        elif fits(_shown(table, [column]), out):
            groups.append([column])
        else:
            return None
    return groups


def _shown(table: Table, figures: list[int]) -> RichTable:
    from proctor.cli.terminal import cell, plain_table

    shown = plain_table(table.headers[: table.words], [table.headers[column] for column in figures])
    for row in table.rows:
        shown.add_row(*(cell(row[column]) for column in [*range(table.words), *figures]))
    return shown
