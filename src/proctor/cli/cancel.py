"""`proctor cancel`: stop a run from outside."""

from __future__ import annotations

import click

from proctor.cli.echo import echo
from proctor.cli.options import as_json, run_argument, server_option


@click.command(short_help="Stop a running run.")
@run_argument
@server_option
@as_json
def cancel(reference: str, server: str | None, as_json: bool) -> None:
    """Stop a run: requests in flight are finished and recorded; 'proctor resume' continues it later.

    RUN is an id, a unique prefix of one, or 'latest'.
    """
    from proctor.cli.context import database, print_json
    from proctor.cli.remote import client_of
    from proctor.domain.documents.run import StoppingRun
    from proctor.runs.cancel import cancel_run

    client = client_of(server)
    if client is not None:
        run_id = client.cancel(reference).run_id
    else:
        with database() as opened:
            run_id = cancel_run(opened, reference)
    if as_json:
        print_json(StoppingRun(run_id, is_stopping=True))
        return
    echo(f"Run {run_id} is stopping; its process ends within a second or two.", err=True)
