"""`proctor budgets`: what projects, users and keys may spend."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

import click

from proctor.cli.echo import echo
from proctor.cli.options import as_json

BY = "command line"
KINDS = click.Choice(["project", "user", "key"])


@click.group(short_help="Limit what projects, users and keys spend.")
def budgets() -> None:
    """Manage what the runs of projects, users and keys may cost on a server, and how many there are at once.

    They hold for what comes over the API, 'proctor run --on' included. Commands on the server's machine, such as
    'proctor run', are the operator's: only their own --max-cost holds, and what they spend counts in no budget.
    """


@budgets.command(name="set")
@click.argument("kind", type=KINDS)
@click.argument("subject")
@click.option("--cost-usd", metavar="USD", help="What all runs of a period may cost together.")
@click.option("--per", default="month", show_default=True, metavar="PERIOD", help="day, month or total.")
@click.option(
    "--storage-mb",
    type=click.IntRange(0),
    metavar="N",
    help="What files, own benchmarks and waiting programs of a project may be.",
)
@click.option("--runs", type=click.IntRange(0), metavar="N", help="Runs that have not ended, at once.")
@as_json
def set_(
    kind: str, subject: str, cost_usd: str | None, per: str, storage_mb: int | None, runs: int | None, as_json: bool
) -> None:
    """Set the budget of a project or a user, by name, or of a key, by its id."""
    from proctor.accounts.budgets import set_budget
    from proctor.cli.context import database, print_json

    with database() as opened:
        found = set_budget(
            opened,
            kind,
            subject,
            cost_usd=_usd(cost_usd),
            per=per,
            runs_at_once=runs,
            storage_bytes=None if storage_mb is None else storage_mb * 1_000_000,
            by=BY,
        )
    if as_json:
        print_json(found)
    else:
        echo(f"The {kind} {subject} has a budget.")


@budgets.command(name="list")
@as_json
def list_(as_json: bool) -> None:
    """List the budgets, and what is left of them."""
    from proctor.accounts.budgets import list_budgets
    from proctor.cli.context import database, print_json
    from proctor.cli.terminal import cell, console, plain_table
    from proctor.stores.accounts.budgets import money

    with database() as opened:
        found = list_budgets(opened)
    if as_json:
        print_json(found)
        return
    if not found:
        echo("No budgets: nothing but the limits of plans holds. Set one with: proctor budgets set project local …")
        return
    table = plain_table()
    for column in ("Of", "Cost", "Left", "Until", "Runs now", "Runs at once", "Files"):
        table.add_column(column)
    for one in found:
        period = "in total" if one.per == "total" else f"per {one.per}"
        cost = "any" if one.cost_usd is None else f"${money(one.cost_usd)} {period}"
        left = "-" if one.left_usd is None else f"${money(one.left_usd)}"
        runs = "any" if one.runs_at_once is None else str(one.runs_at_once)
        files = "any" if one.storage_bytes is None else f"{one.storage_bytes // 1_000_000} MB"
        until = (one.until or "-")[:10]
        table.add_row(cell(f"{one.kind} {one.subject}"), cost, left, until, str(one.runs_now), runs, files)
    console().print(table)


@budgets.command()
@click.argument("kind", type=KINDS)
@click.argument("subject")
def remove(kind: str, subject: str) -> None:
    """Remove a budget."""
    from proctor.accounts.budgets import remove_budget
    from proctor.cli.context import database

    with database() as opened:
        remove_budget(opened, kind, subject, by=BY)
    echo(f"The {kind} {subject} has no budget any more.")


def _usd(text: str | None) -> Decimal | None:
    from proctor.domain.errors import UserError

    try:
        amount = None if text is None else Decimal(text)
    except InvalidOperation:
        amount = Decimal("nan")
    if amount is not None and not amount.is_finite():
        raise UserError(f"--cost-usd is an amount such as 50, not {text!r}.")
    return amount
