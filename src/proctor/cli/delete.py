"""`proctor delete`: a run or a submission, and what belongs to it alone."""

from __future__ import annotations

import click

from proctor.cli.completing import complete_run
from proctor.cli.echo import echo
from proctor.cli.options import as_json, yes_option


@click.command(short_help="Delete a run or a submission.")
@click.argument("reference", metavar="RUN|SUBMISSION", shell_complete=complete_run)
@yes_option
@as_json
def delete(reference: str, yes: bool, as_json: bool) -> None:
    """Delete a run: its answers, scores and events, and the samples and artifacts that nothing else refers to.

    Its answers are taken from the cache no more. The database file does not shrink; the room is used again. RUN is an
    id, a unique prefix of one, or 'latest'; SUBMISSION the id of a program marked with 'proctor problems submit'.
    """
    from proctor.stores.submissions import PREFIX

    if reference.startswith(PREFIX):
        _delete_submission(reference, yes=yes, as_json=as_json)
    else:
        _delete_run(reference, yes=yes, as_json=as_json)


def _delete_submission(reference: str, *, yes: bool, as_json: bool) -> None:
    from proctor.cli.asking import confirm
    from proctor.cli.context import artifacts, database, print_json
    from proctor.domain.documents.deletion import SubmissionDeletion
    from proctor.reports.figures import bytes_text, plural
    from proctor.runs.deleting import delete_submission
    from proctor.stores.submissions import SubmissionStore

    with database() as opened:
        found = SubmissionStore(opened).get(reference)
        confirm(f"Delete submission {found.id} ({found.name}) of the problem {found.problem}?", yes=yes)
        done = delete_submission(opened, artifacts(), found.id)
    if as_json:
        print_json(SubmissionDeletion(done.submission_id, done))
        return
    room = f"{plural(done.artifacts, 'artifact')} ({bytes_text(done.artifact_bytes)} of files)"
    echo(f"Deleted submission {done.submission_id}: {room}.")


def _delete_run(reference: str, *, yes: bool, as_json: bool) -> None:
    from proctor.cli.asking import confirm
    from proctor.cli.context import artifacts, database, print_json
    from proctor.domain.documents.deletion import RunDeletion
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
        done = delete_run(opened, artifacts(), run.id)
    if as_json:
        print_json(RunDeletion(done.run_id, done, users))
        return
    parts = [plural(done.responses, "response"), plural(done.samples, "sample"), plural(done.artifacts, "artifact")]
    echo(f"Deleted run {done.run_id}: {', '.join(parts)} ({bytes_text(done.artifact_bytes)} of files).")
