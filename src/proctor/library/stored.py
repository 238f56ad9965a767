"""Runs that are kept: opened, compared, ranked, reported, scored again; as the commands of these names do."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proctor.domain.benchmark import ScorerSpec
from proctor.domain.documents.comparison import Comparisons
from proctor.domain.documents.leaderboard import Leaderboard
from proctor.domain.documents.rescored import Rescored
from proctor.domain.errors import PlanError
from proctor.library.arguments import Several, written
from proctor.library.place import context, opened, read_settings
from proctor.library.report import Report
from proctor.library.run import Run
from proctor.library.worker import Worker
from proctor.metrics.verdicts import TARGET
from proctor.planning.plan_file import limits_with, model_spec
from proctor.planning.scorer_text import read_scorer
from proctor.runs.comparing.compare import compare_runs
from proctor.runs.comparing.leaderboard import read_leaderboard
from proctor.runs.comparing.pairs import PairSelection
from proctor.runs.comparing.ranked_tables import Filters
from proctor.runs.report import SAMPLES, read_report
from proctor.runs.rescore import execute_rescoring, prepare, put_in_force
from proctor.stores.runs import RunStore

if TYPE_CHECKING:
    import pyarrow

Reference = Run | str
"""A run, its id, a unique prefix of that, or 'latest'."""
Home = Path | str | None


def open_run(run: Reference = "latest", *, home: Home = None) -> Run:
    """A run that is kept; raises NotFoundError when there is none."""
    settings = read_settings(home)
    with opened(home) as database:
        found = RunStore(database).get(_id(run))
        return Run(found.id, database, context(settings, Path.cwd()))


def sql(query: str, *runs: Reference, home: Home = None) -> pyarrow.Table:
    """The answer to a SELECT over the tables runs, results and scores, of these runs or of all; `.to_pandas()` of it is
    a data frame."""
    from proctor.runs.analytics import query_results

    with opened(home) as database:
        return query_results(database, query, [_id(run) for run in runs])


def compare(
    *runs: Reference,
    benchmarks: str | Sequence[str] = (),
    models: str | Sequence[str] = (),
    scorer: str | None = None,
    metric: str | None = None,
    allow_different: bool = False,
    target: float = TARGET,
    flips: int = 0,
    home: Home = None,
) -> Comparisons:
    """The models of one run with one another, or the first run with each other one."""
    choice = PairSelection(_texts(benchmarks), _texts(models), scorer, metric, allow_different)
    with opened(home) as database:
        references = [_id(run) for run in runs or ("latest",)]
        return compare_runs(database, references, choice, target=target, flips=flips)


def report(run: Reference = "latest", *, samples: int = SAMPLES, home: Home = None) -> Report:
    """A run's report; `samples` bounds the trials that it shows in full."""
    with opened(home) as database:
        return Report(read_report(database, _id(run), samples=samples))


def leaderboard(
    benchmarks: str | Sequence[str] = (),
    *,
    models: str | Sequence[str] = (),
    versions: str | Sequence[str] = (),
    tags: Mapping[str, str] | None = None,
    metric: str | None = None,
    best: bool = False,
    paired: bool | None = None,
    home: Home = None,
) -> Leaderboard:
    """The models of all completed runs, a table for each benchmark as it was used; `tags` are language, subject, …"""
    filters = Filters(_texts(benchmarks), _texts(versions), _texts(models), dict(tags or {}))
    with opened(home) as database:
        return read_leaderboard(
            database,
            filters,
            which="best" if best else "latest",
            ranks="auto" if paired is None else "paired" if paired else "separate",
            metric=metric,
        )


def rescore(
    run: Reference = "latest",
    scorers: str | Mapping[str, Mapping[str, Any]] | Sequence[str] = (),
    *,
    use: str | Sequence[str] = (),
    judge: Several = (),
    on: str | None = None,
    keep: bool = False,
    cache: bool = True,
    home: Home = None,
    **limits: Any,
) -> Rescored:
    """Score a run's stored responses again, or let stored scores count (`use`); no model under test is asked.

    A scorer is written as on the command line, or as a mapping from its name to its options. `limits` are those of a
    plan: concurrency, retries, timeout_seconds, cost_usd, assume_price.
    """
    if bool(scorers) == bool(use):
        raise PlanError("rescore() takes either scorers, to score, or use, to choose among stored scores.")
    with opened(home) as database:
        if use:
            return put_in_force(database, _id(run), _texts(use), on)
        plan = RunStore(database).get(_id(run)).plan
        rescoring = prepare(
            database,
            _id(run),
            _scorers(scorers),
            context(read_settings(home), Path.cwd()),
            judges=[model_spec(spec) for spec in written("judge", judge)],
            on=on,
            limits=limits_with(plan, {"cost_usd": None, **limits}),
            use_cache=cache,
        )
        return Worker(lambda: execute_rescoring(rescoring, keep=keep), rescoring.stopping.set).wait()


def _scorers(given: str | Mapping[str, Mapping[str, Any]] | Sequence[str]) -> list[ScorerSpec]:
    if isinstance(given, Mapping):
        return [ScorerSpec(name, dict(options)) for name, options in given.items()]
    return [read_scorer(text) for text in _texts(given)]


def _texts(given: str | Sequence[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def _id(run: object) -> str:
    if isinstance(run, Run):
        return run.id
    if inspect.isawaitable(run):
        raise PlanError("This is a coroutine, not a run: write 'await' before it.")
    if not isinstance(run, str):
        raise PlanError(f"A run is what evaluate() gave, an id or 'latest', not {run!r}.")
    return run
