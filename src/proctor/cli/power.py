"""`proctor power`: how many samples a difference needs."""

from __future__ import annotations

from typing import Any

import click

from proctor.cli.completing import complete_run
from proctor.cli.echo import echo
from proctor.cli.options import as_json

SHARE = click.FloatRange(0, 1, min_open=True, max_open=True)


@click.command(short_help="Compute the sample size that a difference needs.")
@click.argument("reference", metavar="[RUN]", required=False, shell_complete=complete_run)
@click.option(
    "--difference", type=SHARE, default=0.02, show_default=True, metavar="D",
    help="The difference to detect, as a share: 0.02 is 2 percentage points.",
)  # fmt: skip
@click.option(
    "--samples",
    type=click.IntRange(2),
    metavar="N",
    help="Compute the minimum detectable difference of N samples instead.",
)
@click.option("--accuracy", type=SHARE, metavar="P", help="The weaker model's accuracy (the worst case if left out).")
@click.option(
    "--discordance",
    type=SHARE,
    metavar="S",
    help="The share of samples that only one of the two gets right, where known.",
)
@click.option(
    "--correlation", type=click.FloatRange(-1, 1), default=0.0, show_default=True, metavar="R",
    help="Correlation of the two models' scores; related models reach 0.5.",
)  # fmt: skip
@click.option("--unpaired", is_flag=True, help="The two models answer different samples (independent groups).")
@click.option("--power", "chance", type=SHARE, default=0.8, show_default=True, metavar="P", help="Statistical power.")
@click.option(
    "--alpha", type=SHARE, default=0.05, show_default=True, metavar="A", help="Significance level, two-sided."
)
@click.option("--on", metavar="BENCHMARK", help="With RUN: this benchmark.")
@click.option("--model", "models", multiple=True, metavar="MODEL", help="With RUN: these two models.")
@as_json
def power(reference: str | None, as_json: bool, **given: Any) -> None:
    """Compute the sample size that detects a difference, or the minimum detectable difference of a sample size.

    \b
    proctor power --difference 0.02                       before any run
    proctor power latest --difference 0.02                from two models of a run
    proctor power --samples 500 --discordance 0.2         what 500 samples can detect
    """
    from proctor.cli.context import database, print_json
    from proctor.domain.errors import UserError
    from proctor.reports.power_text import power_sentence
    from proctor.runs.plans.power import PowerQuestion, answer_power, discordance_of

    on, models = given.pop("on"), given.pop("models")
    measured = None
    if reference is None and (on or models):
        raise click.UsageError("--on and --model need a RUN.")
    if reference is not None:
        if given["discordance"] is not None or given["accuracy"] is not None or given["unpaired"]:
            raise click.UsageError(
                "With RUN, the discordance is measured: leave out --accuracy, --discordance and --unpaired."
            )
        from proctor.runs.comparing.compare import compare_runs
        from proctor.runs.comparing.pairs import PairSelection

        with database() as opened:
            compared = compare_runs(opened, [reference], PairSelection((on,) if on else (), models))
        measured = discordance_of(compared)
    try:
        answer = answer_power(PowerQuestion(**given), measured)
    except ValueError as error:
        raise UserError(f"{str(error)[:1].upper()}{str(error)[1:]}.") from None
    if as_json:
        print_json(answer)
    else:
        echo(power_sentence(answer))
