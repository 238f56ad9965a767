"""`proctor db`: look after the database."""

from __future__ import annotations

import click


@click.group(short_help="Look after the database.")
def db() -> None:
    """Look after the database that keeps the results."""


@db.command()
def upgrade() -> None:
    """Bring the database to this version's schema; every other command does so too."""
    from proctor.cli.workplace import database
    from proctor.stores.upgrade import HEAD

    with database() as opened:
        click.echo(f"{opened.path} is at schema {HEAD}.")
