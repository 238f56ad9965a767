"""`proctor sql`: questions in SQL over stored results."""

from __future__ import annotations

import atexit
import gc
from typing import Any

import click

from proctor.cli.options import as_json

MAX_ROWS = 1_000


@click.command(short_help="Ask a question in SQL over stored results.")
@click.argument("query")
@click.option("--run", "references", multiple=True, metavar="RUN", help="Only this run; may be repeated. Default: all.")
@as_json
def sql(query: str, references: tuple[str, ...], as_json: bool) -> None:
    """Answer a SELECT over the tables runs, results and scores.

    `results` has a row for each trial (its current attempt), `scores` one for each trial and scorer, `runs` one for
    each run. The dialect is DuckDB's ("DESCRIBE results" lists the columns). Nothing can be changed, and no file or
    address can be read.

    \b
    proctor sql "SELECT model, avg(value) FROM scores GROUP BY model"
    proctor sql "SELECT outcome, count(*) FROM results GROUP BY outcome" --run latest --json
    """
    from proctor.cli.context import database, print_json
    from proctor.runs.analytics import query_results

    atexit.unregister(gc.freeze)  # what is left at the end must be let go of, or DuckDB complains
    with database() as opened:
        found = query_results(opened, query, references)
    if as_json:
        print_json(found.to_pylist())
        return
    _print(found)


def _print(found: Any) -> None:
    from rich.table import Table
    from rich.text import Text

    from proctor.cli.terminal import console
    from proctor.domain.text import visible

    out, table = console(), Table(box=None, pad_edge=False)
    for field in found.schema:
        is_number = str(field.type).startswith(("int", "uint", "double", "float", "decimal"))
        table.add_column(Text(visible(field.name), "bold"), justify="right" if is_number else "left")
    for row in found.slice(0, MAX_ROWS).to_pylist():
        table.add_row(*(Text("–" if value is None else visible(str(value))) for value in row.values()))
    out.print(table)
    if found.num_rows > MAX_ROWS:
        out.print(f"… {found.num_rows - MAX_ROWS:,} more rows; --json prints all.")
