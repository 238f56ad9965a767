"""`proctor users`: who may use the server."""

from __future__ import annotations

import sys

import click

from proctor.cli.echo import echo
from proctor.cli.options import as_json

BY = "command line"


@click.group(short_help="Add, list and disable the users of the server.")
def users() -> None:
    """Manage who may use the server that works on this database."""


@users.command()
@click.argument("name")
@click.option("--admin", is_flag=True, help="May do everything in every project, and manage users.")
@as_json
def add(name: str, admin: bool, as_json: bool) -> None:
    """Add a user and print the link by which he sets his password: good once, for three days."""
    from proctor.accounts.people import add_user
    from proctor.accounts.showing import show_invitation
    from proctor.cli.context import database, print_json

    with database() as opened:
        made = add_user(opened, name, is_admin=admin, by=BY)
    if as_json:
        print_json(show_invitation(made))
        return
    echo(f"Added {name}. The link for the password, after the server's address (shown once, good for three days):")
    echo(made.path)


@users.command(name="list")
@as_json
def list_(as_json: bool) -> None:
    """List the users."""
    from proctor.accounts.showing import list_users
    from proctor.cli.context import database, print_json
    from proctor.cli.terminal import cell, console, plain_table

    with database() as opened:
        found = list_users(opened)
    if as_json:
        print_json(found)
        return
    if not found:
        echo("No users yet: without any, the server listens on this machine only. Add one with: proctor users add NAME")
        return
    table = plain_table()
    for column in ("User", "Added", "State"):
        table.add_column(column)
    for user in found:
        state = "disabled" if user.disabled_at else "active" if user.has_password else "invited"
        table.add_row(cell(user.name), user.created_at[:10], f"{state}, administrator" if user.is_admin else state)
    console().print(table)


@users.command()
@click.argument("name")
def disable(name: str) -> None:
    """Let a user in no more: sessions and keys end at once."""
    _set_disabled(name, is_disabled=True)


@users.command()
@click.argument("name")
def enable(name: str) -> None:
    """Let a disabled user in again; his sessions stay over."""
    _set_disabled(name, is_disabled=False)


def _set_disabled(name: str, *, is_disabled: bool) -> None:
    from proctor.accounts.people import set_disabled
    from proctor.cli.context import database

    with database() as opened:
        set_disabled(opened, name, is_disabled=is_disabled, by=BY)
    echo(f"{name} is {'disabled' if is_disabled else 'enabled'}.")


@users.command()
@click.argument("name")
@as_json
def link(name: str, as_json: bool) -> None:
    """Print a new link by which a user sets his password."""
    from proctor.accounts.people import invite
    from proctor.accounts.showing import show_invitation
    from proctor.cli.context import database, print_json
    from proctor.stores.accounts.users import UserStore

    with database() as opened:
        made = invite(opened, UserStore(opened).named(name), by=BY)
    if as_json:
        print_json(show_invitation(made))
    else:
        echo(made.path)


@users.command()
@click.argument("name")
def password(name: str) -> None:
    """Set a user's password: asked for, or the first line of standard input. His sessions end."""
    from proctor.accounts.people import invite, set_password
    from proctor.cli.context import database
    from proctor.stores.accounts.users import UserStore

    with database() as opened:
        user = UserStore(opened).named(name)
        is_asked = sys.stdin.isatty()
        given = (
            click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
            if is_asked
            else sys.stdin.readline().rstrip("\r\n")
        )
        set_password(opened, invite(opened, user, by=BY).token, given)
    echo(f"The password of {name} is set.")
