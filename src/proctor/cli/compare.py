"""`proctor compare`: is B better than A?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from proctor.cli.completing import complete_run
from proctor.cli.options import as_json
from proctor.cli.pages import form_option, output_option, theme_option


@click.command(short_help="Say whether one model is better than another.")
@click.argument("references", nargs=-1, required=True, metavar="RUN [RUN...]", shell_complete=complete_run)
@click.option("--on", "benchmarks", multiple=True, metavar="BENCHMARK", help="Only this benchmark. Repeatable.")
@click.option("--model", "models", multiple=True, metavar="MODEL", help="Choose the models: A first, then B.")
@click.option("--scorer", metavar="NAME", help="Compare this scorer's first metric; the first scorer's if left out.")
@click.option("--metric", metavar="NAME", help="Compare this metric, named as in 'proctor show'.")
@click.option("--allow-different", is_flag=True, help="Pair by sample id even where samples or prompts differ.")
@click.option(
    "--target", type=click.FloatRange(0, 1, min_open=True), default=0.02, show_default=True, metavar="D",
    help="The difference you hope to see: how many samples it needs is said.",
)  # fmt: skip
@click.option("--flips", type=click.IntRange(0, 10_000), metavar="N", help="Show N samples that flipped, each way.")
@form_option()
@theme_option
@output_option
@as_json
def compare(
    references: tuple[str, ...], target: float, flips: int | None, form: str | None, theme: str | None,
    output: Path | None, as_json: bool, **given: Any,
) -> None:  # fmt: skip
    """Compare models on the samples both answered, with an interval, a test and a sentence.

    \b
    proctor compare latest                        the models of one run
    proctor compare BEFORE AFTER                  the same model in two runs
    proctor compare RUN --model A --model B --flips 5

    RUN is an id, a unique beginning of one, or 'latest'. Of several runs the first is compared with each other one.
    """
    from proctor.cli.pages import page_text, print_page, put
    from proctor.cli.workplace import database, print_json
    from proctor.reports.comparison_page import comparison_page
    from proctor.reports.pairs import Choice, NotComparableError
    from proctor.runs.comparing import compare_runs

    if flips is None:
        flips = 20 if form == "html" else 0
    with database() as opened:
        try:
            document = compare_runs(opened, references, Choice(**given), target=target, flips=flips)
        except NotComparableError as error:
            hint = "" if given["allow_different"] else " --allow-different pairs by sample id all the same."
            raise NotComparableError(f"{error}{hint}") from None
    if as_json and output is None:
        print_json(document)
        return
    page = comparison_page(document)
    if form is None and output is None:
        print_page(page)
    else:
        put(page_text(page, document, form or _form_of(output), theme), output)


def _form_of(output: Path | None) -> str:
    from proctor import plugins
    from proctor.reports.forms import form_of

    form = form_of(output.suffix) if output else None
    if form is None:
        forms = ", -f ".join(plugins.names("reports"))
        raise click.UsageError(f"Which form shall {output} have? Say so with -f {forms}.")
    return form
