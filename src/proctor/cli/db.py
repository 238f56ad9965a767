"""`proctor db`: manage the database."""

from __future__ import annotations

import click

from proctor.cli.echo import echo
from proctor.cli.options import as_json


@click.group(short_help="Upgrade the database.")
def db() -> None:
    """Manage the database that stores the results."""


@db.command()
@as_json
def upgrade(as_json: bool) -> None:
    """Upgrade the database to this version's schema; every other command does so too."""
    from proctor.cli.context import database, print_json
    from proctor.stores.upgrade import HEAD

    with database() as opened:
        if as_json:
            print_json({"database": str(opened.path), "schema": HEAD})
        else:
            echo(f"{opened.path} is at schema {HEAD}.")
