"""`proctor keys`: keys for programs."""

from __future__ import annotations

import click

from proctor.cli.echo import echo
from proctor.cli.options import as_json

BY = "command line"


@click.group(short_help="Create, list, rotate and revoke API keys.")
def keys() -> None:
    """Manage the keys by which programs use the server."""


@keys.command()
@click.option("--project", required=True, metavar="P", help="Whose data the key opens.")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    required=True,
    metavar="SCOPE",
    help="benchmark:read or :write, run:read or :write, results:read, project:admin, admin:full.",
)
@click.option("--expires", metavar="SPAN", help="After 12h, 30d or 8w; without it, when it is revoked.")
@click.option("--name", default="", help="What it is for.")
@as_json
def create(project: str, scopes: tuple[str, ...], expires: str | None, name: str, as_json: bool) -> None:
    """Create a key and print it: it is shown once."""
    from proctor.accounts.keys import create_key, span_seconds
    from proctor.accounts.showing import show_new_key
    from proctor.cli.context import database, print_json

    with database() as opened:
        seconds = None if expires is None else span_seconds(expires)
        made = create_key(opened, project, scopes, name=name, seconds=seconds, by=BY)
    if as_json:
        print_json(show_new_key(made))
    else:
        echo(made.text)


@keys.command(name="list")
@click.option("--project", metavar="P", help="Of this project only.")
@as_json
def list_(project: str | None, as_json: bool) -> None:
    """List the keys: what each may do, and when it was last used."""
    from proctor.accounts.showing import list_keys
    from proctor.cli.context import database, print_json
    from proctor.cli.terminal import cell, console, plain_table

    with database() as opened:
        found = list_keys(opened, project)
    if as_json:
        print_json(found)
        return
    if not found:
        echo("No keys yet. Create one with: proctor keys create --project local --scope run:read")
        return
    table = plain_table()
    for column in ("Key", "Project", "State", "Last used", "Scopes"):
        table.add_column(column)
    for key in found:
        state = "valid" if key.is_valid else "revoked" if key.revoked_at else "expired"
        table.add_row(
            key.key_id, key.project, state, (key.last_used_at or "never")[:10], cell(", ".join(key.scopes))
        )  # fmt: skip
    console().print(table)


@keys.command()
@click.argument("key_id", metavar="KEY")
def revoke(key_id: str) -> None:
    """Revoke a key, named by what 'proctor keys list' shows: no later request is let through with it."""
    from proctor.accounts.keys import revoke_key
    from proctor.cli.context import database

    with database() as opened:
        revoke_key(opened, key_id, by=BY)
    echo(f"Revoked {key_id}.")


@keys.command()
@click.argument("key_id", metavar="[KEY]", required=False)
@as_json
def rotate(key_id: str | None, as_json: bool) -> None:
    """Replace a key by another that may do the same; the old one is revoked.

    Without KEY, the secret that seals providers' keys is rotated: whatever was sealed with a former text of
    PROCTOR_SECRET is sealed anew with the first one, and the former can be taken out.
    """
    from proctor.accounts.keys import rotate_key
    from proctor.accounts.provider_keys import seal_all_anew
    from proctor.accounts.showing import show_new_key
    from proctor.cli.context import context, database, print_json
    from proctor.domain.documents.provider_keys import SealedAnew

    with database() as opened:
        if key_id is None:
            done = SealedAnew(seal_all_anew(opened, context().environment, by=BY))
            if as_json:
                print_json(done)
            else:
                echo(f"Sealed anew: {done.sealed}. Former secrets can be taken out of PROCTOR_SECRET.")
            return
        made = rotate_key(opened, key_id, by=BY)
    if as_json:
        print_json(show_new_key(made))
    else:
        echo(made.text)
