"""`proctor import`: logs of other tools become runs."""

from __future__ import annotations

from pathlib import Path

import click

from proctor.cli.echo import echo
from proctor.cli.options import as_json


@click.command("import", short_help="Import logs of Inspect, lm-eval and promptfoo.")
@click.argument("logs", metavar="LOG...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--name", metavar="TEXT", help="A name for the run.")
@as_json
def import_(logs: tuple[Path, ...], name: str | None, as_json: bool) -> None:
    """Import logs of other tools: Inspect (.eval, .json), lm-eval (results_….json with its samples), promptfoo.

    LOG is a file, or a folder with such files. Each becomes a run whose models are called imported/…; the scores are
    those that the tool gave. Imported runs can be shown, compared, exported and scored again, but no leaderboard ranks
    them: nobody here saw the answers being made. A log that was imported before is not imported again.
    """
    from proctor.cli.context import database, print_json
    from proctor.reports.figures import plural
    from proctor.runs.imports.reading import logs_in, read_log
    from proctor.runs.imports.storing import keep_log

    files = [file for log in logs for file in logs_in(log)]
    read = [(file, read_log(file)) for file in files]  # all are sound before the first is written
    with database() as opened:
        kept = [keep_log(opened, log, file, name) for file, log in read]
    if as_json:
        print_json(kept)
        return
    for run in kept:
        state = "Imported" if run.is_new else "Imported before"
        echo(f"{state}: run {run.run_id}, {run.tool} {run.tool_version}.")
        for one in run.evaluations:
            failed = f", {one.failed:,} failed" if one.failed else ""
            what = f"{plural(one.trials, 'trial')} of {plural(one.samples, 'sample')}{failed}"
            echo(f"  {one.model} on {one.benchmark}: {what}; scores: {', '.join(one.scorers) or 'none'}")
