"""`proctor report`: a run's report to read, send and print."""

from __future__ import annotations

from pathlib import Path

import click

from proctor.cli.options import run_or_latest
from proctor.cli.pages import form_option, output_option, theme_option


@click.command(short_help="Write a run's report as HTML, Markdown or JSON.")
@run_or_latest
@form_option(default="html")
@theme_option
@output_option
@click.option(
    "--samples", "most", type=click.IntRange(0, 5_000), default=200, show_default=True, metavar="N",
    help="Include this many failed and invalid trials at most.",
)  # fmt: skip
def report(reference: str, form: str, theme: str | None, output: Path | None, most: int) -> None:
    """Write one self-contained file: numbers, intervals, comparisons, categories, time, cost, and what went wrong.

    RUN is an id, a unique beginning of one, or 'latest' (the default). The HTML file needs no network; the numbers are
    the same in every form.
    """
    from proctor.cli.pages import page_text, put
    from proctor.cli.workplace import database
    from proctor.reports.run_page import run_page
    from proctor.runs.report import read_report

    with database() as opened:
        document = read_report(opened, reference, samples=most)
    put(page_text(run_page(document), document, form, theme), output)
