"""`proctor report`: a run's report to read, send and print."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from proctor.cli.echo import echo
from proctor.cli.options import run_or_latest
from proctor.cli.pages import format_option, output_option, theme_option

if TYPE_CHECKING:
    from proctor.reports.sections import Page


@click.command(short_help="Write a run's report as HTML, Markdown or JSON, with charts.")
@run_or_latest
@format_option(otherwise="html")
@theme_option
@output_option
@click.option(
    "--samples", "most", type=click.IntRange(0, 5_000), default=200, show_default=True, metavar="N",
    help="Include at most N failed, invalid and wrong trials in full.",
)  # fmt: skip
@click.option(
    "--charts", type=click.Path(file_okay=False, path_type=Path), metavar="DIR",
    help="Write the charts into DIR, each as SVG and PNG; with -o, the report too.",
)  # fmt: skip
@click.option(
    "--site", type=click.Path(file_okay=False, path_type=Path), metavar="DIR",
    help="Write leaderboard, completed runs and comparisons into DIR as pages for any web server; no run is named.",
)  # fmt: skip
def report(
    reference: str,
    format_name: str | None,
    theme: str | None,
    output: Path | None,
    most: int,
    charts: Path | None,
    site: Path | None,
) -> None:
    """Write one self-contained file: scores with intervals, comparisons, categories, latency, cost, wrong answers.

    RUN is an id, a unique prefix of one, or 'latest' (the default). The HTML file needs no network; the numbers are
    the same in every format.
    """
    from msgspec.structs import replace

    from proctor.cli.context import database
    from proctor.cli.pages import chosen_format, put
    from proctor.reports.formats import page_text
    from proctor.reports.run_page import run_page
    from proctor.reports.theme import load_theme
    from proctor.runs.report import read_report

    if site is not None:
        _write_site(site)
        return
    format_name = chosen_format(format_name, output) or "html"
    with database() as opened:
        document = read_report(opened, reference, samples=most)
    page = run_page(document)
    if charts is None or output is not None:
        put(page_text(page, document, format_name, theme), output)
    if charts is not None:
        _write_charts(page if theme is None else replace(page, theme=load_theme(theme)), charts)


def _write_site(folder: Path) -> None:
    from proctor.cli.context import database
    from proctor.cli.site import write_site

    with database() as opened:
        count = write_site(opened, folder)
    echo(f"Written to {folder}: {count} files. Any web server shows them: python -m http.server -d {folder}", err=True)


def _write_charts(page: Page, folder: Path) -> None:
    from proctor.domain.errors import UserError
    from proctor.reports.chart_files import can_write_png, write_charts

    try:
        written = write_charts(page, folder)
    except OSError as error:
        raise UserError(f"The charts cannot be written to {folder}: {error.strerror}.") from None
    for path in written:
        echo(f"Written to {path}.", err=True)
    if not can_write_png():
        echo("Only SVG was written. PNG needs matplotlib: pip install 'proctor[charts]'.", err=True)
