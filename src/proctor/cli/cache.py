"""`proctor cache`: what is kept to be quicker or cheaper the next time."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from proctor.cli.echo import echo
from proctor.cli.options import as_json, yes_option

if TYPE_CHECKING:
    from proctor.runs.storage.caches import Cache

UNITS = {"m": 60, "h": 3600, "d": 86_400, "w": 604_800}
MAX_DAYS = 36_500
MAX_AGE_SECONDS = MAX_DAYS * UNITS["d"]


class Age(click.ParamType[float]):
    """A number and a unit: 90m, 12h, 30d, 2w; in seconds."""

    name = "age"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        found = re.fullmatch(r"([0-9]{1,9})([mhdw])", str(value))
        seconds = MAX_AGE_SECONDS + 1 if found is None else int(found[1]) * UNITS[found[2]]
        if seconds > MAX_AGE_SECONDS:
            self.fail(f"{str(value)!r:.40} is no age: write 90m, 12h, 30d or 2w, at most {MAX_DAYS:,}d.", param, ctx)
        return float(seconds)


dry_run_option = click.option("--dry-run", is_flag=True, help="Show what would go, with sizes; remove nothing.")


@click.group(short_help="Look after the caches.")
def cache() -> None:
    """Look after what is kept to be quicker or cheaper: judges' replies, answers of runs, lists, packages, weights."""


@cache.command()
@click.option("--older-than", type=Age(), default="30d", show_default=True, metavar="AGE", help="90m, 12h, 30d, 2w.")
@dry_run_option
@yes_option
@as_json
def prune(older_than: float, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Remove what is older. Runs, their answers and their scores stay."""
    _clear(older_than, dry_run=dry_run, yes=yes, as_json=as_json)


@cache.command()
@click.option("--older-than", type=Age(), default="0m", metavar="AGE", help="Only what is older: 90m, 12h, 30d, 2w.")
@dry_run_option
@yes_option
@as_json
def clear(older_than: float, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Remove everything. Runs, their answers and their scores stay; what is asked again costs again."""
    _clear(older_than, dry_run=dry_run, yes=yes, as_json=as_json)


def _clear(older_than: float, *, dry_run: bool, yes: bool, as_json: bool) -> None:
    from proctor.cli.asking import confirm
    from proctor.cli.context import database, print_json
    from proctor.runs.storage.caches import clear_caches, find_caches
    from proctor.settings import Settings

    settings, before = Settings.from_environment(), time.time() - older_than
    with database() as opened:
        found = find_caches(opened, settings.home, before=before)
        if not dry_run and any(item.count for item in found):
            if not as_json:
                _print(found)
            confirm("Remove all of this?", yes=yes)
            found = clear_caches(opened, settings.home, before=before)
    if as_json:
        print_json({"dry_run": dry_run, "caches": found})
    elif dry_run or not any(item.count for item in found):
        _print(found)
        echo("Nothing was removed.")
    else:
        echo("Removed.")


def _print(found: Sequence[Cache]) -> None:
    from proctor.cli.terminal import cell, console, plain_table
    from proctor.reports.figures import bytes_text, count_text

    table = plain_table(("Cache",), ("Entries", "Size"))
    table.add_column("Without it", overflow="fold")
    for item in found:
        table.add_row(cell(item.name), count_text(item.count), bytes_text(item.bytes), cell(item.meaning))
    console().print(table)
