"""`proctor runs`: the list."""

from __future__ import annotations

import click

from proctor.cli.options import as_json


@click.command(short_help="List the runs.")
@click.option("-n", "--limit", default=20, show_default=True, type=click.IntRange(1, 10_000), help="How many.")
@click.option(
    "--status", type=click.Choice(["queued", "running", "completed", "failed", "cancelled"]), help="Only these."
)
@as_json
def runs(limit: int, status: str | None, as_json: bool) -> None:
    """List the runs, newest first."""
    from proctor.cli.workplace import database, print_json
    from proctor.domain.run import RunStatus
    from proctor.stores.listing import list_runs

    with database() as opened:
        rows = list_runs(opened, limit=limit, status=RunStatus(status) if status else None)
    if as_json:
        print_json([
            {
                "run_id": row.id, "name": row.name, "status": row.status, "created_at": row.created_at,
                "seconds": row.seconds, "models": row.models, "benchmarks": row.benchmarks, "trials": row.trials,
            }
            for row in rows
        ])  # fmt: skip
        return
    from rich.markup import escape
    from rich.table import Table

    from proctor.cli.figures import count_text, seconds_text
    from proctor.cli.tables import console, status_text

    out = console()
    if not rows:
        out.print("No runs yet. Start one with: proctor run puzzles -m demo/strong -m demo/weak")
        return
    table = Table(box=None, header_style="bold", pad_edge=False)
    for title in ("Run", "Started", "Status", "Name", "Models", "Benchmarks"):
        table.add_column(title, overflow="fold", no_wrap=title in ("Run", "Started"))
    for title in ("Trials", "Time"):
        table.add_column(title, justify="right")
    for row in rows:
        table.add_row(
            row.id, f"{row.created_at.astimezone():%Y-%m-%d %H:%M}", status_text(row.status), escape(row.name or ""),
            escape(", ".join(row.models)), escape(", ".join(row.benchmarks)), count_text(row.trials),
            seconds_text(row.seconds),
        )  # fmt: skip
    out.print(table)
