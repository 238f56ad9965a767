"""`proctor show`: one run's numbers."""

from __future__ import annotations

import click

from proctor.cli.options import as_json, run_or_latest, server_option


@click.command(short_help="Show a run's results.")
@run_or_latest
@server_option
@as_json
def show(reference: str, server: str | None, as_json: bool) -> None:
    """Show a run's results. RUN is an id, a unique prefix of one, or 'latest' (the default)."""
    from proctor.cli.context import database, print_json
    from proctor.cli.remote import client_of

    client = client_of(server)
    if client is None:
        from proctor.runs.chunks.waiting import show_run

        with database() as opened:
            document = show_run(opened, reference)
    else:
        document = client.shown(reference)
    if as_json:
        print_json(document)
        return
    from proctor.cli.echo import echo
    from proctor.cli.outcome import print_run

    print_run(document)
    if document.waiting_for is not None:
        echo(f"Run {document.run_id} is waiting for {document.waiting_for}.", err=True)
