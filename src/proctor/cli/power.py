"""`proctor power`: how many samples a difference needs."""

from __future__ import annotations

from typing import Any

import click

from proctor.cli.completing import complete_run
from proctor.cli.echo import echo
from proctor.cli.options import as_json

SHARE = click.FloatRange(0, 1, min_open=True, max_open=True)


@click.command(short_help="Say how many samples a difference needs.")
@click.argument("reference", metavar="[RUN]", required=False, shell_complete=complete_run)
@click.option(
    "--difference", type=SHARE, default=0.02, show_default=True, metavar="D",
    help="The difference to see, as a share: 0.02 is two points.",
)  # fmt: skip
@click.option("--samples", type=click.IntRange(2), metavar="N", help="Say instead what N samples can show.")
@click.option("--accuracy", type=SHARE, metavar="P", help="The weaker model's accuracy (the hardest case if left out).")
@click.option(
    "--discordance", type=SHARE, metavar="S", help="The share of samples on which the two differ, where it is known."
)
@click.option(
    "--correlation", type=click.FloatRange(-1, 1), default=0.0, show_default=True, metavar="R",
    help="How alike the models' right answers are; models of one kind reach 0.5.",
)  # fmt: skip
@click.option("--unpaired", is_flag=True, help="The two models answer different samples.")
@click.option(
    "--power", "chance", type=SHARE, default=0.8, show_default=True, metavar="P", help="The chance to see it."
)
@click.option("--alpha", type=SHARE, default=0.05, show_default=True, metavar="A", help="The chance to see it wrongly.")
@click.option("--on", metavar="BENCHMARK", help="With RUN: this benchmark.")
@click.option("--model", "models", multiple=True, metavar="MODEL", help="With RUN: these two models.")
@as_json
def power(reference: str | None, as_json: bool, **given: Any) -> None:
    """Say how many samples are needed to see a difference, or what so many samples can show.

    \b
    proctor power --difference 0.02                       before anything was run
    proctor power latest --difference 0.02                from what two models of a run did
    proctor power --samples 500 --discordance 0.2         what 500 samples can show
    """
    from proctor.cli.workplace import database, print_json
    from proctor.domain.errors import UserError
    from proctor.reports.planning import PowerQuestion, answer_power, discordance_of
    from proctor.reports.planning import sentence as in_words

    on, models = given.pop("on"), given.pop("models")
    measured = None
    if reference is None and (on or models):
        raise click.UsageError("--on and --model choose from a run: name the run.")
    if reference is not None:
        if given["discordance"] is not None or given["accuracy"] is not None or given["unpaired"]:
            raise click.UsageError(
                "A run tells how its models differ: leave out --accuracy, --discordance, --unpaired."
            )
        from proctor.reports.pairs import Choice
        from proctor.runs.comparing import compare_runs

        with database() as opened:
            document = compare_runs(opened, [reference], Choice((on,) if on else (), models))
        measured = discordance_of(document)
    try:
        answer = answer_power(PowerQuestion(**given), measured)
    except ValueError as error:
        raise UserError(f"This cannot be: {error}.") from None
    if as_json:
        print_json(answer)
    else:
        echo(in_words(answer))
