"""`proctor run`: plan in, results out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from proctor.cli.completing import complete_benchmark, complete_model
from proctor.cli.options import COUNT, as_json, execution_options, gates, here_option, plan_values

if TYPE_CHECKING:
    from proctor.domain.documents.dry_run import PilotRun
    from proctor.domain.plan import Plan
    from proctor.runs.resolve import PlanContext


@click.command(short_help="Evaluate models on benchmarks.")
@click.argument("targets", nargs=-1, required=True, metavar="BENCHMARK|plan.yaml...", shell_complete=complete_benchmark)
@click.option(
    "-m",
    "--model",
    "models",
    multiple=True,
    metavar="MODEL",
    shell_complete=complete_model,
    help="A model, as provider/name?option=value. Repeatable.",
)
@execution_options
@gates
@click.option(
    "--dry-run", is_flag=True, help="Show the resolved plan and its estimated cost; asks no model, writes nothing."
)
@click.option(
    "--pilot",
    type=COUNT,
    metavar="N",
    help="With --dry-run: run N samples of each benchmark for a better estimate; the answers are cached.",
)
@here_option
@click.option(
    "--priority", type=click.Choice(("low", "normal", "high")), default="normal", help="Among the runs of workers."
)
@click.option(
    "--on", "--server", "server", metavar="URL",
    help="Let a Proctor server execute it, and follow it from here (PROCTOR_SERVER).",
)  # fmt: skip
@as_json
def run(targets: tuple[str, ...], models: tuple[str, ...], **flags: Any) -> None:
    """Evaluate models on benchmarks, given by name, as a benchmark file, or together in a plan file.

    \b
    proctor run puzzles -m demo/strong -m demo/weak
    proctor run my.yaml -m openai/gpt-5-mini --limit 100
    proctor run my.yaml -m "openai/llama?base_url=http://127.0.0.1:8080/v1&temperature=0"
    proctor run plan.yaml

    Options override the plan. Exit code 1: the run or a gate failed; 2: a mistake in the command.
    """
    from proctor.cli.context import context
    from proctor.cli.gates import read_gates, refuse_unknown, refuse_unwritable
    from proctor.cli.plans import read_targets
    from proctor.cli.remote import client_of, run_on
    from proctor.offline import confined

    if flags["pilot"] and not flags["dry_run"]:
        raise click.UsageError("--pilot needs --dry-run.")
    bars = read_gates(flags["fail_under"])
    refuse_unwritable(flags["reports"])
    given = read_targets(targets, models, plan_values(flags))
    client = None if flags["here"] else client_of(flags["server"])
    if client is not None:
        _refuse_beside_server(flags)
        run_on(
            client, given.plan, dry_run=flags["dry_run"], is_json=flags["as_json"], gates=bars, reports=flags["reports"]
        )  # fmt: skip
        return
    here = context(flags["data"])
    with confined(given.plan.offline or here.is_offline), given.located():
        if bars:
            from proctor.runs.plans.metric_names import metrics_of_plan

            refuse_unknown(bars, metrics_of_plan(given.plan, here))
        if flags["dry_run"]:
            _dry_run(given.plan, here, pilot=flags["pilot"], is_json=flags["as_json"])
            return
        from proctor.cli.context import database
        from proctor.cli.executing import finish
        from proctor.cli.handing_over import find_workers, follow_workers
        from proctor.cli.hints import say_unused_judges
        from proctor.runs.execute import submit
        from proctor.runs.resolve import unused_judges
        from proctor.settings import Settings
        from proctor.stores.runs import RunStore

        broker_url = None if flags["here"] else find_workers(Settings.from_environment())
        with database() as opened:
            # 'latest' is the newest run before this one.
            reference = flags["fail_on_regression"]
            baseline = None if reference is None else RunStore(opened).get(reference).id
            if broker_url is not None:
                from proctor.domain.chunk import Priority
                from proctor.runs.chunks.accept import accept

                run_id = accept(given.plan, here, opened, priority=Priority(flags["priority"]))
                follow_workers(
                    run_id, opened, broker_url,
                    is_json=flags["as_json"], gates=bars, baseline=baseline, reports=flags["reports"],
                )  # fmt: skip
                return
            execution = submit(given.plan, here, opened)
            say_unused_judges(unused_judges(execution.plan, execution.evaluations))
            finish(
                execution, opened, is_json=flags["as_json"], gates=bars, baseline=baseline, reports=flags["reports"]
            )  # fmt: skip


def _refuse_beside_server(flags: dict[str, Any]) -> None:
    """What only the machine that executes can do is not silently left out."""
    for name, option in (("pilot", "--pilot"), ("fail_on_regression", "--fail-on-regression"), ("data", "--data")):
        if flags[name]:
            raise click.UsageError(f"{option} cannot be used with a server: it is about this machine's own results.")


def _dry_run(plan: Plan, here: PlanContext, *, pilot: int | None, is_json: bool) -> None:
    from proctor.cli.hints import say_unused_judges
    from proctor.planning.matrix import expand_matrix
    from proctor.runs.plans.dry_run import estimate_run
    from proctor.runs.resolve import resolve_without_keys, unused_judges
    from proctor.settings import Settings
    from proctor.stores.database import find_database

    plan = expand_matrix(plan, here.folder)
    evaluations, missing = resolve_without_keys(plan, here)
    say_unused_judges(unused_judges(plan, evaluations))
    piloted = _run_pilot(plan, here, pilot) if pilot else None
    found = find_database(Settings.from_environment().database_url)
    try:
        estimated = estimate_run(plan, evaluations, found, pilot=piloted, missing_keys=missing)
    finally:
        if found is not None:
            found.dispose()
    if is_json:
        from proctor.cli.context import print_json

        print_json(estimated)
    else:
        from proctor.cli.dry_run import print_dry_run

        print_dry_run(estimated)


def _run_pilot(plan: Plan, here: PlanContext, samples: int) -> PilotRun:
    from proctor.cli.context import database
    from proctor.cli.executing import watch
    from proctor.runs.plans.pilot import run_pilot

    with database() as opened:
        return run_pilot(plan, here, opened, samples, watch)
