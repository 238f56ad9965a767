"""`proctor audit`: what was done, by whom, from where."""

from __future__ import annotations

import click

from proctor.cli.echo import echo
from proctor.cli.options import as_json


@click.group(short_help="Verify and export the audit log.")
def audit() -> None:
    """Check and export the log of what was done with accounts, keys and projects."""


@audit.command()
@as_json
def verify(as_json: bool) -> None:
    """Compute the chain of hashes anew: exit code 1 where a row was changed or is missing.

    Whoever can write to the database could compute a new chain: keep the newest hash elsewhere and compare it.
    """
    from proctor.accounts.showing import verify_audit
    from proctor.cli.context import database, print_json

    with database() as opened:
        found = verify_audit(opened)
    if as_json:
        print_json(found)
    elif found.first_broken is None:
        echo(f"{found.rows:,} rows, none changed or missing. Newest hash: {found.newest_hash}")
    else:
        echo(f"Row {found.first_broken:,} is not what was written, or one before it is missing.")
    if found.first_broken is not None:
        raise click.exceptions.Exit(1)


@audit.command()
def export() -> None:
    """Print every row as one line of JSON."""
    from proctor.accounts.showing import show_audit
    from proctor.cli.context import database
    from proctor.domain.documents.document import json_bytes
    from proctor.stores.accounts.audit import AuditStore

    with database() as opened:
        for row in AuditStore(opened).rows():
            echo(json_bytes(show_audit(row)).decode())
