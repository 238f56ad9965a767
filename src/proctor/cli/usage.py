"""`proctor usage`: what was used, and what it cost."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, cast

import click

from proctor.cli.options import as_json
from proctor.cli.runs import Date

if TYPE_CHECKING:
    from collections.abc import Sequence

    from proctor.domain.documents.usage import UsageReport
    from proctor.stores.usage import Dimension

DIMENSIONS = ("day", "project", "user", "model")
DAY = Date(has_times=False)


@click.command(short_help="Show what was used, and what it cost.")
@click.option(
    "--by", "by", multiple=True, type=click.Choice(DIMENSIONS), help="What it is told apart by; days if left out."
)
@click.option("--since", type=DAY, metavar="DAY", help="The first day (UTC); 30 days ago if left out.")
@click.option("--until", type=DAY, metavar="DAY", help="The last day; today if left out.")
@as_json
def usage(by: tuple[str, ...], since: datetime | None, until: datetime | None, as_json: bool) -> None:
    """Show answers, tokens and cost by day, project, user and model, how long workers were busy, and what is stored.

    What workers' time and storage cost is shown at your own prices: PROCTOR_WORKER_HOUR_USD and
    PROCTOR_STORAGE_GB_MONTH_USD. What judges cost is not in it: 'proctor show RUN' has that.
    """
    from proctor.cli.context import database, print_json
    from proctor.runs.usage import report_usage
    from proctor.settings import Settings

    wanted = cast("Sequence[Dimension]", by or ("day",))
    first, last = (None if day is None else day.date() for day in (since, until))
    with database() as opened:
        found = report_usage(opened, wanted, first, last, Settings.from_environment().usage_prices)
    if as_json:
        print_json(found)
    else:
        _print(found)


def _print(found: UsageReport) -> None:
    from proctor.cli.echo import echo
    from proctor.cli.figures import count_text
    from proctor.cli.terminal import cell, console, plain_table

    names = [name.capitalize() for name in found.by]
    table = plain_table(names, ("Runs", "Asks", "Answers", "Failed", "Tokens", "Cost", "Workers", "At your price"))
    for item in found.items:
        hours = None if item.worker_seconds is None else f"{item.worker_seconds / 3600:.2f} h"
        table.add_row(
            *(cell(str(getattr(item, name) or "-")) for name in found.by),
            *(
                count_text(count)
                for count in (item.runs, item.asks, item.answers, item.failed, item.input_tokens + item.output_tokens)
            ),
            f"{'≥ ' if item.unpriced else ''}{_money(item.cost_usd)}",
            hours or "-",
            _money(item.workers_usd),
        )
    console().print(table)
    for one in found.storage:
        price = "" if one.usd_a_month is None else f", {_money(one.usd_a_month)} a month"
        echo(f"{one.project}: {one.bytes / 1e6:.1f} MB of answers and files{price}")
    if any(item.unpriced for item in found.items):
        echo("≥: the price of some answers is not known; what they cost is not in it.")


def _money(amount: float | None) -> str:
    from proctor.cli.figures import cost_text

    return "-" if amount is None else cost_text(amount) if amount < 1 else f"${amount:,.2f}"
