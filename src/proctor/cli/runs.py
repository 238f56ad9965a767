"""`proctor runs`: the list."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from proctor.cli.completing import complete_benchmark, complete_model, complete_run
from proctor.cli.options import as_json, server_option

if TYPE_CHECKING:
    from proctor.domain.documents.listing import ListedRun
    from proctor.stores.listing import RunFilter

STATUSES = ("queued", "running", "interrupted", "completed", "failed", "cancelled")


class Date(click.DateTime):
    """A day; where `has_times`, also a minute or second of one."""

    def __init__(self, *, has_times: bool) -> None:
        super().__init__(
            ["%Y-%m-%d", *(["%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"] if has_times else [])]
        )
        self._written = "2026-11-17 or 2026-11-17T14:30" if has_times else "2026-11-17"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            self.fail(f"{value!r} is not a date: write {self._written}.", param, ctx)


DATE = Date(has_times=True)


@click.command(short_help="List the runs.")
@click.option("-n", "--limit", default=20, show_default=True, type=click.IntRange(1, 10_000), help="How many runs.")
@click.option("--status", type=click.Choice(STATUSES), help="Only runs with this status.")
@click.option(
    "--model",
    "models",
    multiple=True,
    metavar="MODEL",
    shell_complete=complete_model,
    help="With this model. Repeatable.",
)
@click.option(
    "--benchmark", "benchmarks", multiple=True, metavar="NAME", shell_complete=complete_benchmark,
    help="With this benchmark. Repeatable.",
)  # fmt: skip
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="With this tag. Repeatable.")
@click.option("--name", metavar="TEXT", help="Whose name contains this.")
@click.option("--owner", metavar="WHO", help="Started by this user, or 'key ID', over a server.")
@click.option(
    "--kind", default="evaluation", show_default=True, type=click.Choice(["evaluation", "playground", "all"]),
    help="Runs on benchmarks, asks of the playground, or both.",
)  # fmt: skip
@click.option("--since", type=DATE, metavar="DATE", help="Started on this day or later (2026-11-17, local time).")
@click.option("--until", type=DATE, metavar="DATE", help="Started before this day.")
@click.option("--before", metavar="RUN", shell_complete=complete_run, help="Older than this run: the next page.")
@server_option
@as_json
def runs(
    limit: int, status: str | None, before: str | None, kind: str, server: str | None, as_json: bool, **given: Any
) -> None:  # fmt: skip
    """List the runs, newest first. The process of an 'interrupted' run has ended: 'proctor resume' finishes it."""
    from proctor.cli.context import database, print_json
    from proctor.cli.remote import client_of
    from proctor.domain.documents.listing import ShownStatus
    from proctor.runs.listing import find_runs, kinds_of

    shown = None if status is None else ShownStatus(status)
    client = client_of(server)
    if client is not None:
        found = client.list_runs(limit=limit, after=before, status=status, kind=kind, **_query(**given))
    else:
        with database() as opened:
            wanted, kinds = _filter(**given), kinds_of(kind)
            found = find_runs(opened, limit=limit, wanted=wanted, status=shown, before=before, kinds=kinds)
    if as_json:
        print_json(found[:limit])
        return
    _print(found[:limit], is_filtered=bool(status or before or any(given.values())))
    if len(found) > limit:
        from proctor.cli.echo import echo

        echo(f"There are more: add --before {found[limit - 1].run_id}, or -n N.", err=True)


def _query(
    *,
    models: Sequence[str],
    benchmarks: Sequence[str],
    tags: Sequence[str],
    name: str | None,
    owner: str | None,
    **dates: datetime | None,
) -> dict[str, Any]:
    """The same filters, as a server knows them."""
    moments = {key: None if day is None else day.astimezone().isoformat() for key, day in dates.items()}
    return {"model": models, "benchmark": benchmarks, "tag": tags, "text": name, "owner": owner, **moments}


def _filter(*, since: datetime | None, until: datetime | None, **given: Any) -> RunFilter:
    from proctor.stores.listing import RunFilter

    def local(moment: datetime | None) -> datetime | None:
        return None if moment is None else moment.astimezone()

    return RunFilter(since=local(since), until=local(until), **given)


def _print(found: Sequence[ListedRun], *, is_filtered: bool) -> None:
    from proctor.cli.figures import seconds_text
    from proctor.cli.terminal import cell, console, plain_table, status_text

    out = console()
    if not found:
        nothing = "No runs yet. Start one with: proctor run puzzles -m demo/strong -m demo/weak"
        out.print("No run matches these filters." if is_filtered else nothing)
        return
    table = plain_table(numbers=("Run", "Started", "Status", "Trials", "Time", "Cost"))
    for column in table.columns[:3]:
        column.justify = "left"
    table.add_column("What", overflow="fold")
    for item in found:
        what = f"{', '.join(item.models)}{' on ' if item.benchmarks else ' side by side'}{', '.join(item.benchmarks)}"
        # How long it takes is written down at its end, and a process that was killed could not.
        is_untimed = not item.seconds and item.shown_status in ("queued", "running", "interrupted")
        table.add_row(
            item.run_id,
            f"{item.created_at.astimezone():%Y-%m-%d %H:%M}",
            status_text(item.shown_status),
            _trials(item),
            seconds_text(None if is_untimed else item.seconds),
            _cost(item),
            cell((f"{item.name}: {what}" if item.name else what) + "".join(f" #{tag}" for tag in item.tags)),
        )
    out.print(table)


def _trials(item: ListedRun) -> str:
    """How many there are; of a run that is being executed, also how many are done."""
    from proctor.cli.figures import count_text

    trials = count_text(item.trials)
    return trials if item.done is None else f"{count_text(item.done)} of {trials}"


def _cost(item: ListedRun) -> str:
    """What models and judges have cost; a dash until the run has ended."""
    from proctor.reports.figures import NOT_MEASURED, cost_text

    return NOT_MEASURED if item.cost_basis is None else cost_text(item.cost_usd, item.cost_basis)
