"""`proctor rescore`: score stored responses again, without asking the model."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

import click

from proctor.cli.echo import echo
from proctor.cli.options import NUMBER, as_json, assume_price_option, judge_option, run_argument, server_option

if TYPE_CHECKING:
    from proctor.domain.documents.rescored import Rescored
    from proctor.runs.rescore import Progress, Rescoring
    from proctor.stores.database import Database

FIRST_SECONDS = 5.0


@click.command(short_help="Score a run's stored responses again.")
@run_argument
@click.option(
    "--scorer",
    "scorers",
    multiple=True,
    metavar="NAME[:OPTIONS]",
    help="A scorer; its options as key=value,key=value or as JSON. Repeatable.",
)
@click.option("--use", multiple=True, metavar="NAME[@VERSION]", help="Put stored scores in force; scores nothing.")
@judge_option
@click.option("--on", metavar="BENCHMARK", help="Only this benchmark of the run.")
@click.option("--keep", is_flag=True, help="Store the new scores, but leave the old ones in force.")
@click.option("--concurrency", type=click.IntRange(1, 4096), metavar="N", help="Requests in flight, per judge (64).")
@click.option("--retries", type=click.IntRange(0, 50), metavar="N", help="Retries after a failed judge request (5).")
@click.option("--timeout", type=NUMBER, metavar="S", help="Seconds for one request to a judge (600).")
@click.option("--max-cost", metavar="USD", help="Stop before the judges have cost more than this.")
@assume_price_option
@click.option("--no-cache", is_flag=True, help="Do not use cached judge replies.")
@server_option
@as_json
def rescore(reference: str, scorers: tuple[str, ...], use: tuple[str, ...], server: str | None, **flags: Any) -> None:
    """Score a run's stored responses again, without asking the model. All scores are kept.

    \b
    proctor rescore latest --scorer exact:ignore_case=true
    proctor rescore latest --scorer 'judge_rubric:{"criteria": "Is it polite?", "scale": 7}' --judge openai/gpt-5-mini
    proctor rescore latest --use exact

    To continue an interrupted rescore, run the same command again. RUN is an id, a unique prefix of one,
    or 'latest'. With a server, its workers do it, and the command follows them.
    """
    from proctor.cli.context import database
    from proctor.cli.remote import client_of

    if bool(scorers) == bool(use):
        raise click.UsageError("Give either --scorer (score again) or --use (choose stored scores).")
    client = client_of(server)
    if client is not None:
        from proctor.cli.rescore_on import rescore_on

        rescore_on(client, reference, scorers, use, flags)
        return
    with database() as opened:
        if use:
            from proctor.runs.packing import pack_run
            from proctor.runs.rescore import put_in_force

            document, code = put_in_force(opened, reference, use, flags["on"]), 0
            pack_run(opened, document.run_id)
        else:
            rescoring = _prepare(opened, reference, scorers, flags)
            document, code = _execute(rescoring, keep=flags["keep"])
    show(document, is_json=flags["as_json"])
    sys.exit(code)


def show(document: Rescored, *, is_json: bool) -> None:
    """Both sets of scores, and what was in the way of more."""
    if is_json:
        from proctor.cli.context import print_json

        print_json(document)
    else:
        from proctor.cli.rescored import print_rescored

        print_rescored(document)
    sys.stdout.flush()
    for judge, fault in document.judge_faults.items():
        echo(f"Error: {judge}: {fault.rstrip('.')}. Run the same command again to continue.", err=True)
    for scorer, reason in document.why_nothing.items():
        echo(f"Error: {scorer} scored no response: {reason.rstrip('.')}.", err=True)


def _prepare(opened: Database, reference: str, scorers: tuple[str, ...], flags: dict[str, Any]) -> Rescoring:
    from proctor.cli.context import context
    from proctor.cli.options import limit_values
    from proctor.planning.plan_file import limits_with, model_spec
    from proctor.planning.scorer_text import read_scorer
    from proctor.runs.rescore import prepare
    from proctor.stores.runs import RunStore

    plan = RunStore(opened).get(reference).plan
    return prepare(
        opened,
        reference,
        [read_scorer(text) for text in scorers],
        context(),
        judges=[model_spec(text) for text in flags["judge"]],
        on=flags["on"],
        limits=limits_with(plan, {"cost_usd": None, **limit_values(flags)}),
        use_cache=not flags["no_cache"],
    )


def _execute(rescoring: Rescoring, *, keep: bool) -> tuple[Rescored, int]:
    from proctor.cli.event_loop import run_until_done
    from proctor.runs.rescore import execute_rescoring

    rescoring.on_progress = progress_lines()
    again = "Run the same command again to continue."

    def interrupted() -> None:
        rescoring.stopping.set()
        echo("Stopping: waiting for the scores in progress. Ctrl-C again quits at once.", err=True)

    def quit_now() -> None:
        echo(f"Quit. Everything scored is kept. {again}", err=True)

    document = run_until_done(lambda: execute_rescoring(rescoring, keep=keep), interrupted, quit_now)
    if rescoring.out_of_money:
        echo(f"Error: {rescoring.out_of_money}. {again} --max-cost USD sets another limit.", err=True)
        return document, 1
    if rescoring.stopping.is_set():
        echo(f"Stopped; the old scores remain in force. {again}", err=True)
        return document, 130
    return document, 0 if rescoring.is_complete else 1


def progress_lines() -> Progress:
    """A line on standard error after 5, 10, 20, … seconds."""
    started, wait = time.monotonic(), FIRST_SECONDS

    def tell(done: int, total: int, fault: str | None) -> None:
        nonlocal wait
        if time.monotonic() - started >= wait:
            wait *= 2
            echo(f"{done:,} of {total:,} scored" + (f" (last fault: {fault})" if fault else ""), err=True)

    return tell
