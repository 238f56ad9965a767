"""`proctor resume`: finish whatever is unfinished."""

from __future__ import annotations

from typing import Any

import click
from msgspec.structs import replace

from proctor.cli.options import (
    as_json,
    data_option,
    gates,
    here_option,
    limit_options,
    limit_values,
    offline_option,
    run_argument,
)


@click.command(short_help="Finish a run that was interrupted.")
@run_argument
@limit_options
@data_option
@offline_option
@gates
@here_option
@as_json
def resume(reference: str, **flags: Any) -> None:
    """Finish a run: run missing trials, retry failed ones, score responses without a score.

    RUN is an id, a unique prefix of one, or 'latest'. No recorded answer is requested again.
    """
    from proctor.cli.context import context, database
    from proctor.cli.executing import finish
    from proctor.cli.gates import read_gates, refuse_unknown, refuse_unwritable
    from proctor.cli.handing_over import find_workers, follow_workers
    from proctor.planning.plan_file import limits_with
    from proctor.runs.execute import reopen
    from proctor.runs.plans.metric_names import metrics_of_all
    from proctor.settings import Settings
    from proctor.stores.runs import RunStore

    bars = read_gates(flags["fail_under"])
    refuse_unwritable(flags["reports"])
    reference_run = flags["fail_on_regression"]
    broker_url = None if flags["here"] else find_workers(Settings.from_environment())
    with database() as opened:
        run = RunStore(opened).get(reference)
        limits = limits_with(run.plan, limit_values(flags))
        if broker_url is not None and not run.plan.batch:
            from proctor.runs.chunks.accept import requeue

            baseline = None if reference_run is None else RunStore(opened).get(reference_run).id
            requeue(run.id, opened, limits=limits)
            follow_workers(
                run.id, opened, broker_url,
                is_json=flags["as_json"], gates=bars, baseline=baseline, reports=flags["reports"],
            )  # fmt: skip
            return
        here = context(flags["data"])
        here = replace(here, is_offline=here.is_offline or flags["offline"])
        execution = reopen(run, here, opened, limits)
        refuse_unknown(bars, metrics_of_all(execution.evaluations))
        baseline = None if reference_run is None else RunStore(opened).get(reference_run).id
        finish(execution, opened, is_json=flags["as_json"], gates=bars, baseline=baseline, reports=flags["reports"])
