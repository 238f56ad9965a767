"""`proctor delete`: a run and what belongs to it alone."""

from __future__ import annotations

import click

from proctor.cli.echo import echo
from proctor.cli.options import as_json, run_argument, yes_option


@click.command(short_help="Delete a run.")
@run_argument
@yes_option
@as_json
def delete(reference: str, yes: bool, as_json: bool) -> None:
    """Delete a run: its answers, scores and events, and the samples and artifacts that no other run refers to.

    Its answers are taken from the cache no more. The database file does not shrink; the room is used again. RUN is an
    id, a unique prefix of one, or 'latest'.
    """
    from proctor.cli.asking import confirm
    from proctor.cli.context import database, print_json
    from proctor.reports.figures import bytes_text, plural
    from proctor.runs.deleting import delete_run
    from proctor.stores.deleting import referring_runs
    from proctor.stores.runs import RunStore

    with database() as opened:
        run = RunStore(opened).get(reference)
        users = referring_runs(opened, run.id)
        if users:
            echo(f"Note: {', '.join(users)} cannot be resumed without it: their plans name this run.", err=True)
        named = f" ({run.name})" if run.name else ""
        confirm(f"Delete run {run.id}{named}, {run.status}, of {run.created_at.astimezone():%Y-%m-%d %H:%M}?", yes=yes)
        done = delete_run(opened, run.id)
    if as_json:
        print_json({"run_id": done.run_id, "deleted": done, "named_by": users})
        return
    parts = [plural(done.responses, "response"), plural(done.samples, "sample"), plural(done.artifacts, "artifact")]
    echo(f"Deleted run {done.run_id}: {', '.join(parts)} ({bytes_text(done.artifact_bytes)} of files).")
