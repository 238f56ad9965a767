"""`proctor provider-keys`: keys for providers that projects have of their own."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from proctor.cli.echo import echo
from proctor.cli.options import as_json

if TYPE_CHECKING:
    from proctor.stores.database import Database

BY = "command line"
_project = click.option("--project", default="local", show_default=True, metavar="P", help="Whose keys.")


@click.group(name="provider-keys", short_help="Keep encrypted keys for providers.")
def provider_keys() -> None:
    """Manage the keys for providers that projects have of their own: encrypted, each for one address, shown to nobody.

    Runs of the project on a server's own workers and on other workers use them, before those of the environment.
    """


@provider_keys.command(name="set")
@click.argument("provider")
@_project
@click.option("--base-url", metavar="URL", help="Where it goes, if not to the provider's own address.")
@click.option("--no-key", is_flag=True, help="The server at that address wants none.")
@as_json
def set_(provider: str, project: str, base_url: str | None, no_key: bool, as_json: bool) -> None:
    """Keep the key that standard input has, or replace the one for the same address."""
    from proctor.accounts.provider_keys import set_provider_key
    from proctor.cli.context import context, database, print_json

    key = None if no_key else sys.stdin.readline().rstrip("\r\n")
    with database() as opened:
        found = set_provider_key(
            _within(opened, project),
            context().environment,
            provider,
            key,
            base_url=base_url,
            is_operator=True,
            by=BY,
        )
    if as_json:
        print_json(found)
    else:
        echo(
            f"Project {project} has {'a key' if found.has_key else 'a connection'} for {provider} at {found.base_url}."
        )


@provider_keys.command(name="list")
@_project
@as_json
def list_(project: str, as_json: bool) -> None:
    """List which keys a project has, and where they go; never a key."""
    from proctor.accounts.provider_keys import list_provider_keys
    from proctor.cli.context import database, print_json
    from proctor.cli.terminal import cell, console, plain_table

    with database() as opened:
        found = list_provider_keys(_within(opened, project))
    if as_json:
        print_json(found)
        return
    if not found:
        echo(f"Project {project} has no keys of its own: its runs use those of the environment.")
        return
    table = plain_table()
    for column in ("Connection", "Provider", "Key", "Goes to", "Set by"):
        table.add_column(column)
    for one in found:
        key = "kept" if one.has_key else "none"
        table.add_row(one.connection_id, one.provider, key, cell(one.base_url), cell(one.set_by))
    console().print(table)


@provider_keys.command()
@click.argument("connection_id", metavar="CONNECTION")
@_project
def remove(connection_id: str, project: str) -> None:
    """Remove a key, named by what 'proctor provider-keys list' shows: runs that begin later do not have it."""
    from proctor.accounts.provider_keys import remove_provider_key
    from proctor.cli.context import database

    with database() as opened:
        remove_provider_key(_within(opened, project), connection_id, by=BY)
    echo(f"Removed {connection_id}.")


def _within(opened: Database, project: str) -> Database:
    from proctor.domain.scope import Scope

    return opened.within(Scope(project))
