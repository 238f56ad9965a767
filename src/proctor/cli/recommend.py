"""`proctor recommend`: benchmarks that fit a need, or where to look after a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from proctor.cli.completing import complete_model, complete_run
from proctor.cli.echo import echo
from proctor.cli.figures import cost_text
from proctor.cli.options import as_json, data_option, offline_option
from proctor.metrics.rounding import decimal_text

if TYPE_CHECKING:
    from proctor.domain.documents.recommendation import Recommendations, RecommendedBenchmark


@click.command(short_help="Recommend benchmarks for a need, or after a run.")
@click.option("--for", "need", metavar="TEXT", help="What is needed, in words: 'German maths, short answers'.")
@click.option("--after", metavar="RUN", shell_complete=complete_run, help="Where this run's models are weak.")
@click.option(
    "-m", "--model", "models", multiple=True, metavar="MODEL", shell_complete=complete_model,
    help="Estimate what 100 samples cost with this model. Repeatable.",
)  # fmt: skip
@offline_option
@data_option
@as_json
def recommend(
    need: str | None, after: str | None, models: tuple[str, ...], offline: bool, data: str | None, as_json: bool
) -> None:
    """Name benchmarks that fit, with why, their sizes and costs, and what no benchmark covers.

    \b
    proctor recommend --for "science questions in Japanese, multiple choice"
    proctor recommend --after latest
    """
    import os

    from proctor.cli.context import print_json
    from proctor.runs.plans.planner_catalogue import planner_catalogue
    from proctor.runs.plans.recommend import recommend as find

    if (need is None) == (after is None):
        raise click.UsageError("Give either --for TEXT or --after RUN.")
    if need is not None and not need.strip():
        raise click.UsageError("--for says what is needed, for example: --for 'German maths, short answers'.")
    catalogue = planner_catalogue(os.environ)
    found = find(need, catalogue) if need is not None else _after(str(after))
    if models:
        found = _with_costs(found, models, data, offline=offline)
    if as_json:
        print_json(found)
    else:
        _print(found)


def _after(reference: str) -> Recommendations:
    import os

    from proctor.cli.context import database
    from proctor.runs.plans.planner_catalogue import planner_catalogue
    from proctor.runs.plans.recommend import recommend_after

    with database() as opened:
        return recommend_after(reference, planner_catalogue(os.environ), opened)


def _with_costs(found: Recommendations, models: tuple[str, ...], data: str | None, *, offline: bool) -> Recommendations:
    from proctor.cli.context import context
    from proctor.offline import confined
    from proctor.runs.plans.recommend import with_costs
    from proctor.settings import Settings
    from proctor.stores.database import find_database

    here = context(data)
    opened = find_database(Settings.from_environment().database_url)
    try:
        with confined(offline or here.is_offline):
            return with_costs(found, models, here, opened)
    finally:
        if opened is not None:
            opened.dispose()


def _print(found: Recommendations) -> None:
    for weak in found.weak:
        value, low, high, overall = map(decimal_text, (weak.value, *weak.interval, weak.overall))
        echo(
            f"{weak.model} is weak in {weak.category} of {weak.benchmark}: {weak.metric} {value} "
            f"[{low}, {high}] n={weak.n}, {overall} on all samples"
        )
    if found.weak:
        echo("")
    if not found.benchmarks:
        echo("No category is weaker than the whole beyond chance." if not found.asked else "No benchmark fits.")
    for item in found.benchmarks:
        _print_one(item)
    for sentence in found.uncovered:
        echo(f"Not covered: {sentence}.")
    if found.not_understood:
        echo(f"Not understood: {', '.join(repr(words) for words in found.not_understood)}.")
    if found.benchmarks and found.asked:
        echo(f"\nTo see 5 points between two models, at worst: {found.benchmarks[0].samples_for_5_points:,} samples.")


def _print_one(item: RecommendedBenchmark) -> None:
    size = "generated" if item.samples is None else f"{item.samples:,} samples"
    echo(f"{item.benchmark}: {'; '.join(item.why)} ({size})")
    for key, words in item.where.items():
        echo(f"  --where {' --where '.join(f'{key}={word}' for word in words)}")
    for cost in item.costs:
        echo(f"  {cost.model}: {cost_text(cost.value_usd)} ({cost.why})")
