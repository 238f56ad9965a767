"""All runs in one table a benchmark."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from proctor.domain.documents.evaluation import EvaluationFigures
from proctor.domain.documents.leaderboard import Leaderboard, LeftOutEvaluations, Which
from proctor.domain.errors import NotFoundError, did_you_mean
from proctor.domain.run import IMPORTED, RunStatus
from proctor.plugins import BrokenPluginError, PluginNotFoundError
from proctor.runs.comparing.ranked_tables import Filters, Ranks, rank_evaluations
from proctor.runs.read import read_figures, read_run
from proctor.stores.comparing import EvaluationRow, find_evaluations, known_names, read_summaries
from proctor.stores.database import Database


def read_leaderboard(
    database: Database,
    filters: Filters = Filters(),  # noqa: B008 - frozen
    *,
    which: Which = "latest",
    ranks: Ranks = "auto",
    metric: str | None = None,
) -> Leaderboard:
    """Completed runs only; how many evaluations were left out for that is part of the document."""
    found = find_evaluations(
        database, benchmarks=filters.benchmarks, versions=filters.versions, models=filters.models
    )  # fmt: skip
    matching = [row for row in found if filters.matches(row)]
    if not matching:
        _explain(database, filters)
    own = [row for row in matching if row.model_spec.get("provider") != IMPORTED]
    rows = [row for row in own if row.run_status is RunStatus.COMPLETED]
    summaries = _read_figures(database, rows)
    for run_id in dict.fromkeys(row.run_id for row in rows if row.id not in summaries):
        # A run whose metric is a plugin that is gone or broken is left out.
        with suppress(PluginNotFoundError, BrokenPluginError):
            read_run(database, run_id)  # computes what is missing, and keeps it
    summaries |= _read_figures(database, [row for row in rows if row.id not in summaries])
    known = [row for row in rows if row.id in summaries]
    if metric is not None:
        _check_metric(metric, [*summaries.values()])
    left_out = LeftOutEvaluations(len(own) - len(rows), len(rows) - len(known), len(matching) - len(own))
    return rank_evaluations(database, known, summaries, left_out, which=which, ranks=ranks, metric=metric)


def _read_figures(database: Database, rows: Sequence[EvaluationRow]) -> dict[int, EvaluationFigures]:
    """Those that are kept, by the evaluation's id."""
    kept = read_summaries(database, [row.id for row in rows])
    found = {evaluation_id: read_figures(summary) for evaluation_id, summary in kept.items()}
    return {evaluation_id: figures for evaluation_id, figures in found.items() if figures is not None}


def _check_metric(metric: str, summaries: Sequence[EvaluationFigures]) -> None:
    known = list(dict.fromkeys(name for summary in summaries for name in summary.metrics))
    if metric not in known:
        raise NotFoundError(f"No metric {metric!r} here; there is {', '.join(known)}.{did_you_mean(metric, known)}")


def _explain(database: Database, filters: Filters) -> None:
    """Say which filter fits nothing."""
    wanted = {"benchmark": filters.benchmarks, "version": filters.versions, "model": filters.models}
    for column, names in wanted.items():
        known = known_names(database, column)
        if not known:
            raise NotFoundError("There are no runs yet. Start one with 'proctor run'.")
        for name in names:
            if name not in known:
                raise NotFoundError(f"No {column} {name!r} has been evaluated.{did_you_mean(name, known)}")
    tags = ", ".join(f"{name} {value}" for name, value in filters.tags.items())
    raise NotFoundError(f"No evaluation fits all of these filters{f' ({tags})' if tags else ''}.")
