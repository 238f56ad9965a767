"""`proctor show`: one run's numbers."""

from __future__ import annotations

import click

from proctor.cli.options import as_json, run_or_latest


@click.command(short_help="Show a run's results.")
@run_or_latest
@as_json
def show(reference: str, as_json: bool) -> None:
    """Show a run's results. RUN is an id, a unique prefix of one, or 'latest' (the default)."""
    from proctor.cli.context import database, print_json
    from proctor.runs.read import read_run

    with database() as opened:
        document = read_run(opened, reference)
    if as_json:
        print_json(document)
        return
    from proctor.cli.outcome import print_run

    print_run(document)
