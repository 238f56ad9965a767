"""`proctor compare`: is B better than A?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from proctor.cli.completing import complete_run
from proctor.cli.options import as_json, server_option
from proctor.cli.pages import format_option, output_option, theme_option

if TYPE_CHECKING:
    from proctor.domain.documents.comparison import Comparisons
    from proctor.runs.comparing.pairs import PairSelection


@click.command(short_help="Compare models with paired statistical tests.")
@click.argument("references", nargs=-1, required=True, metavar="RUN [RUN...]", shell_complete=complete_run)
@click.option("--on", "benchmarks", multiple=True, metavar="BENCHMARK", help="Only this benchmark. Repeatable.")
@click.option("--model", "models", multiple=True, metavar="MODEL", help="Choose the models or sides: A first, then B.")
@click.option("--scorer", metavar="NAME", help="Compare this scorer's first metric; the first scorer's if left out.")
@click.option("--metric", metavar="NAME", help="Compare this metric, by its name in 'proctor show --json'.")
@click.option("--allow-different", is_flag=True, help="Pair by sample id even if samples or prompts differ.")
@click.option(
    "--target", type=click.FloatRange(0, 1, min_open=True), default=0.02, show_default=True, metavar="D",
    help="The difference you want to detect; the samples it needs are computed.",
)  # fmt: skip
@click.option(
    "--flips",
    type=click.IntRange(0, 10_000),
    metavar="N",
    help="Show N samples that only A, and N that only B, got right.",
)
@format_option()
@theme_option
@output_option
@server_option
@as_json
def compare(
    references: tuple[str, ...], target: float, flips: int | None, format_name: str | None, theme: str | None,
    output: Path | None, server: str | None, as_json: bool, **given: Any,
) -> None:  # fmt: skip
    """Compare models on the samples both answered: difference, 95 % interval, paired test and verdict.

    \b
    proctor compare latest                        the models, prompts and options of one run
    proctor compare BEFORE AFTER                  the same model in two runs
    proctor compare RUN --model A --model B --flips 5

    RUN is an id, a unique prefix of one, or 'latest'. Of several runs, the first is compared with each of the others.
    """
    from proctor.cli.pages import chosen_format, print_page, put
    from proctor.cli.remote import client_of
    from proctor.reports.comparison_page import comparison_page
    from proctor.reports.formats import page_text
    from proctor.runs.comparing.pairs import PairSelection

    format_name = chosen_format(format_name, output, as_json=as_json)
    if flips is None:
        flips = 20 if format_name == "html" else 0
    client = client_of(server)
    if client is not None:
        on, model = given.pop("benchmarks"), given.pop("models")
        document = client.compare(*references, on=on, model=model, target=target, flips=flips, **given)
    else:
        document = _compare(references, PairSelection(**given), target, flips)
    page = comparison_page(document)
    if format_name is None:
        print_page(page)
    else:
        put(page_text(page, document, format_name, theme), output)


def _compare(references: Sequence[str], choice: PairSelection, target: float, flips: int) -> Comparisons:
    from proctor.cli.context import database
    from proctor.runs.comparing.compare import compare_runs
    from proctor.runs.comparing.pairs import NotComparableError

    with database() as opened:
        try:
            return compare_runs(opened, references, choice, target=target, flips=flips)
        except NotComparableError as error:
            hint = "" if choice.allow_different else " --allow-different pairs them by sample id anyway."
            raise NotComparableError(f"{error}{hint}") from None
