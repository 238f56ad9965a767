"""Evaluate models on benchmarks, as `proctor run` does."""

from __future__ import annotations

import asyncio
import warnings
from typing import Unpack

from proctor.library.arguments import Options, Several, plan_of
from proctor.library.place import context, read_settings
from proctor.library.run import Run
from proctor.runs.execute import submit
from proctor.runs.resolve import unused_judges
from proctor.stores.database import open_database


def evaluate(benchmarks: Several | None = None, models: Several | None = None, **options: Unpack[Options]) -> Run:
    """Evaluate models on benchmarks and wait for the result; nothing is printed, and the run is kept.

    Benchmarks and models are written as in a plan; without models, `benchmarks` is a plan file. `options` are the
    other parts of a plan (epochs, seed, judge, until, cache, batch, offline, sandbox, name), sampling options
    (temperature, max_tokens, …) and limits (concurrency, cost_usd, minutes, …); they win over a plan file. `data` takes
    the place of PROCTOR_DATA, `home` of PROCTOR_HOME. A mistake raises a UserError; a run that could not be completed
    is returned all the same, and its `status` and `error` say why. Works inside a running event loop, too, and blocks
    it meanwhile.
    """
    return prepare(benchmarks, models, **options).execute()


async def evaluate_async(
    benchmarks: Several | None = None, models: Several | None = None, **options: Unpack[Options]
) -> Run:
    """Like `evaluate`, while the caller's event loop goes on; cancelling finishes what is in flight, and keeps it."""
    run = await asyncio.to_thread(prepare, benchmarks, models, **options)
    return await run.execute_async()


def prepare(benchmarks: Several | None = None, models: Several | None = None, **options: Unpack[Options]) -> Run:
    """Check everything and write the run down; nothing is asked before its `execute`."""
    plan, folder = plan_of(benchmarks, models, options)
    settings = read_settings(options.get("home"))
    here = context(settings, folder, options.get("data"))
    database = open_database(settings.database_url, settings.database_read_url)
    try:
        execution = submit(plan, here, database)
    finally:
        database.dispose()
    if (words := unused_judges(plan, execution.evaluations)) is not None:
        warnings.warn(words, stacklevel=3)
    return Run(execution.run_id, database, here, execution)
