"""`proctor retention`: remove what is older than it is to be kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from proctor.cli.cache import Age
from proctor.cli.echo import echo
from proctor.cli.options import as_json, yes_option

if TYPE_CHECKING:
    from proctor.domain.documents.retention import RetentionFigures

DAY_SECONDS = 86_400


@click.command(short_help="Remove what is older than it is to be kept.")
@click.option(
    "--older-than", type=Age(), metavar="AGE", help="Runs that ended longer ago: 90d, 12w (PROCTOR_RETENTION_DAYS)."
)
@click.option("--dry-run", is_flag=True, help="Show what would go; remove nothing.")
@yes_option
@as_json
def retention(older_than: float | None, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Remove runs that ended long ago, with their answers, scores, events and artifacts.

    A project's own times ('proctor projects retention') win over --older-than, also for asks, programs and cached
    answers. Runs that are queued or running never go, nor those that another run replays. On PostgreSQL the partitions
    of months without a run are dropped. Artifacts that nothing refers to go when they are a day old.
    """
    from proctor.cli.asking import confirm
    from proctor.cli.context import artifacts, database, print_json
    from proctor.domain.scope import LOCAL
    from proctor.reports.figures import bytes_text, plural
    from proctor.runs.storage.retention import apply_retention
    from proctor.settings import Settings

    days = Settings.from_environment().retention_days if older_than is None else older_than / DAY_SECONDS
    with database() as opened:
        kept = artifacts()
        found = apply_retention(opened, kept, days, is_dry_run=True)
        if not dry_run:
            others = _others(found)
            if found.runs or found.artifacts or others:
                what = ", ".join([plural(len(found.runs), "run"), *others])
                what = f"{what} and {plural(found.artifacts, 'artifact')} without owner"
                confirm(f"Remove {what} for good?", yes=yes)
            found = apply_retention(opened, kept, days, is_dry_run=False)
    if as_json:
        print_json(found)
        return
    verb = "Would remove" if dry_run else "Removed"
    for run in found.runs:
        named = f" ({run.name})" if run.name else ""
        named += "" if run.project == LOCAL else f" of {run.project}"
        echo(
            f"{verb} run {run.run_id}{named}, {run.status} {run.finished_at[:10]}, {plural(run.responses, 'response')}."
        )
    for month in found.months:
        echo(f"{verb} the partitions of {month // 100}-{month % 100:02}.")
    room = f"{plural(found.artifacts, 'artifact')} ({bytes_text(found.artifact_bytes)})"
    echo(f"{verb} {', '.join([plural(len(found.runs), 'run'), *_others(found), room])}.")
    for note in found.notes:
        echo(f"Note: {note}.")
    if days is None:
        echo(
            "Runs are kept for good where their project says nothing: set PROCTOR_RETENTION_DAYS, or --older-than 90d.",
            err=True,
        )


def _others(found: RetentionFigures) -> list[str]:
    """What beside runs goes."""
    from proctor.reports.figures import plural

    counts = ((found.asks, "ask"), (found.submissions, "submission"), (found.cached, "cached answer"))
    return [plural(count, name) for count, name in counts if count]
