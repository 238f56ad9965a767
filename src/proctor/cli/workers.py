"""`proctor workers`: who executes runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from proctor.cli.echo import echo
from proctor.cli.options import as_json

if TYPE_CHECKING:
    from proctor.domain.documents.worker import ListedWorker


@click.command(short_help="List the workers and what they do.")
@as_json
def workers(as_json: bool) -> None:
    """List the processes that execute runs: since when, for which pools, what each does, chunks per minute."""
    from proctor.cli.context import database, print_json
    from proctor.runs.chunks.workers import list_workers

    with database() as opened:
        found = list_workers(opened)
    if as_json:
        print_json({"workers": found})
    elif found:
        _print(found)
    else:
        echo("No worker. Start one with 'proctor worker'.")


def _print(found: list[ListedWorker]) -> None:
    from proctor.cli.figures import seconds_text
    from proctor.cli.terminal import cell, console, plain_table
    from proctor.metrics.rounding import decimal_text
    from proctor.reports.figures import count_text

    table = plain_table(("Worker", "Pools", "Alive"), ("For", "Chunks", "Per minute"))
    table.add_column("Now", overflow="fold")
    for item in found:
        table.add_row(
            cell(f"{item.host}:{item.pid}"),
            cell(", ".join(item.pools)),
            "yes" if item.is_alive else "no",
            seconds_text((item.seen_at - item.started_at).total_seconds()),
            count_text(item.chunks),
            decimal_text(item.chunks_per_minute, 1),
            cell(item.doing or "waiting" if item.is_alive else "gone"),
        )
    console().print(table)
