"""`proctor cancel`: stop a run from outside."""

from __future__ import annotations

import click

from proctor.cli.echo import echo
from proctor.cli.options import run_argument


@click.command(short_help="Stop a running run.")
@run_argument
def cancel(reference: str) -> None:
    """Stop a run: requests in flight are finished and recorded; 'proctor resume' continues it later.

    RUN is an id, a unique prefix of one, or 'latest'.
    """
    from proctor.cli.context import database
    from proctor.runs.cancel import cancel_run

    with database() as opened:
        run_id = cancel_run(opened, reference)
    echo(f"Run {run_id} is stopping; its process ends within a second or two.", err=True)
