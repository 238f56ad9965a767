"""`proctor runs`: the list."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from proctor.cli.options import as_json

if TYPE_CHECKING:
    from proctor.stores.listing import RunListing


@click.command(short_help="List the runs.")
@click.option("-n", "--limit", default=20, show_default=True, type=click.IntRange(1, 10_000), help="How many runs.")
@click.option(
    "--status",
    type=click.Choice(["queued", "running", "completed", "failed", "cancelled"]),
    help="Only runs with this status.",
)
@as_json
def runs(limit: int, status: str | None, as_json: bool) -> None:
    """List the runs, newest first. The process of an 'interrupted' run has ended: 'proctor resume' finishes it."""
    from proctor.cli.workplace import database, print_json
    from proctor.domain.run import RunStatus
    from proctor.reports.totals import cost_json
    from proctor.stores.listing import list_runs
    from proctor.stores.runs import RunStore

    with database() as opened:
        rows = list_runs(opened, limit=limit, status=RunStatus(status) if status else None)
        open_rows = [row.id for row in rows if row.status in (RunStatus.QUEUED, RunStatus.RUNNING)]
        left_behind = {run_id for run_id in open_rows if not RunStore(opened).is_executing(run_id)}
    if as_json:
        print_json([
            {
                "run_id": row.id, "name": row.name, "status": row.status, "is_executing": row.id in open_rows
                and row.id not in left_behind, "created_at": row.created_at, "seconds": row.seconds,
                "models": row.models, "benchmarks": row.benchmarks, "trials": row.trials,
                "cost_usd": None if row.costs is None else cost_json(row.costs)["cost_usd"],
            }
            for row in rows
        ])  # fmt: skip
        return
    _print(rows, left_behind, status)


def _print(rows: list[RunListing], left_behind: set[str], status: str | None) -> None:
    from proctor.cli.figures import count_text, seconds_text
    from proctor.cli.terminal import cell, console, plain_table, status_text

    out = console()
    if not rows:
        nothing = "No runs yet." if status is None else f"No run is {status}."
        out.print(f"{nothing} Start one with: proctor run puzzles -m demo/strong -m demo/weak")
        return
    table = plain_table(numbers=("Run", "Started", "Status", "Trials", "Time", "Cost"))
    for column in table.columns[:3]:
        column.justify = "left"
    table.add_column("What", overflow="fold")
    for row in rows:
        what = f"{', '.join(row.models)} on {', '.join(row.benchmarks)}"
        table.add_row(
            row.id,
            f"{row.created_at.astimezone():%Y-%m-%d %H:%M}",
            status_text("interrupted" if row.id in left_behind else row.status),
            count_text(row.trials),
            # A process that was killed could not say how long it took.
            seconds_text(None if row.id in left_behind and not row.seconds else row.seconds),
            _cost(row),
            cell(f"{row.name}: {what}" if row.name else what),
        )
    out.print(table)


def _cost(row: RunListing) -> str:
    """What models and judges have cost; a dash until the run has ended."""
    from proctor.reports.figures import NOT_MEASURED, cost_text
    from proctor.reports.totals import cost_json

    if row.costs is None:
        return NOT_MEASURED
    found = cost_json(row.costs)
    return cost_text(found["cost_usd"], found["cost_basis"])
