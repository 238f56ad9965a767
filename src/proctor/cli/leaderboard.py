"""`proctor leaderboard`: every model's place, and how sure it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from proctor.cli.echo import echo
from proctor.cli.options import as_json
from proctor.cli.pages import format_option, output_option, theme_option


@click.command(short_help="Rank models across runs.")
@click.option("--benchmark", "benchmarks", multiple=True, metavar="NAME", help="Only this benchmark. Repeatable.")
@click.option("--version", "versions", multiple=True, metavar="V", help="Only this version of it. Repeatable.")
@click.option("--model", "models", multiple=True, metavar="MODEL", help="Only this model. Repeatable.")
@click.option("--language", metavar="CODE", help="Only benchmarks in this language.")
@click.option("--subject", metavar="NAME", help="Only benchmarks about this subject.")
@click.option("--task", metavar="NAME", help="Only benchmarks of this task: knowledge, reasoning, value, alignment.")
@click.option("--form", "form_tag", metavar="NAME", help="Only this form: binary, choice, short, open, code, tool.")
@click.option("--metric", metavar="NAME", help="Rank by this metric; by the benchmark's first if left out.")
@click.option("--best", is_flag=True, help="Use each model's best run instead of its latest.")
@click.option(
    "--paired/--separate", default=None,
    help="Rank by paired tests, or by each model's own interval; chosen by the amount of data if left out.",
)  # fmt: skip
@format_option()
@theme_option
@output_option
@as_json
def leaderboard(
    form_tag: str | None, metric: str | None, best: bool, paired: bool | None, format_name: str | None,
    theme: str | None, output: Path | None, as_json: bool, **given: Any,
) -> None:  # fmt: skip
    """Rank the models of all completed runs, one table for each benchmark configuration.

    Different versions, samples, prompts, shots or scorers are never mixed in one table, but for prompts that a run has
    varied on the same samples: these are rows of one. A rank like 1–3 means that no significant difference between the
    three was found. Each row names its run: 'proctor show RUN'.
    """
    from proctor.cli.context import database
    from proctor.cli.pages import chosen_format, print_page, put
    from proctor.reports.formats import page_text
    from proctor.reports.leaderboard_page import leaderboard_page
    from proctor.runs.comparing.leaderboard import read_leaderboard
    from proctor.runs.comparing.ranked_tables import TAGS, Filters

    format_name = chosen_format(format_name, output, as_json=as_json)
    values = {**given, "form": form_tag}
    tags = {name: values[name] for name in TAGS if values[name] is not None}
    filters = Filters(given["benchmarks"], given["versions"], given["models"], tags)
    with database() as opened:
        document = read_leaderboard(
            opened, filters, which="best" if best else "latest",
            ranks="auto" if paired is None else "paired" if paired else "separate", metric=metric,
        )  # fmt: skip
    page = leaderboard_page(document)
    if format_name is None:
        print_page(page)
        echo(f"\n{page.subtitle}\nInspect: proctor show RUN")
    else:
        put(page_text(page, document, format_name, theme), output)
