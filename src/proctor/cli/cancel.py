"""`proctor cancel`: stop a run from outside."""

from __future__ import annotations

import click

from proctor.cli.workplace import complete_run


@click.command(short_help="Stop a run that another process executes.")
@click.argument("reference", metavar="RUN", shell_complete=complete_run)
def cancel(reference: str) -> None:
    """Stop a run: requests in flight are finished and kept; 'proctor resume' goes on later."""
    from proctor.cli.workplace import database
    from proctor.domain.errors import RunError
    from proctor.stores.runs import RunStore

    with database() as opened:
        store = RunStore(opened)
        run = store.get(reference)
        if not store.request_cancel(run.id):
            raise RunError(f"Run {run.id} has ended already: it is {run.status}.")
    click.echo(f"Run {run.id} is told to stop.", err=True)
