"""A run as people and programs read it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
import orjson
from msgspec.structs import asdict

from proctor.domain.documents.document import plain_values
from proctor.domain.documents.evaluation import EvaluationFigures, EvaluationSummary, RescoredAt, ScorersInForce
from proctor.domain.documents.run import RunSummary, StopOutcome
from proctor.domain.run import ENDED
from proctor.runs.columns import EvaluationColumns
from proctor.runs.measuring.totals import rates_of, totals_of
from proctor.runs.sides import sides_of_rows
from proctor.stores.database import Database
from proctor.stores.runs import GROUP_SIZES, RunRow, RunStore
from proctor.stores.scores import ScoreStore

if TYPE_CHECKING:
    from proctor.metrics.metric import MeanOverSamples
    from proctor.stopping.rule import MeasuredEvaluation, Value
    from proctor.stores.comparing import EvaluationRow


def read_run(database: Database, reference: str) -> RunSummary:
    """The run's numbers; those of a run that has ended are computed once and kept."""
    store = RunStore(database)
    run = store.get(reference)
    has_ended = run.status in ENDED or not store.is_executing(run.id)
    rows = store.evaluation_rows(run.id)
    figures = []
    for row in rows:
        found = None if row["summary"] is None else read_figures(orjson.loads(row["summary"]))
        if found is None:
            found = _summarise(database, row, has_ended=has_ended)
            if run.status in ENDED:
                store.save_summary(run, row, plain_values(found))
        figures.append(found)
    seconds = round(run.seconds, 3)
    return RunSummary(
        run_id=run.id,
        name=run.name,
        status=run.status,
        error=run.error,
        created_at=run.created_at,
        seconds=seconds,
        unanswered_cost_usd=float(run.unanswered_usd),
        totals=totals_of(figures, seconds),
        evaluations=_beside_each_other(figures, rows, scorers_in_force(database, run.id, rows)),
        until=_stop_outcomes(database, run) if run.has_stop_rule else None,
        tags=run.tags,
    )


def read_figures(kept: Mapping[str, Any]) -> EvaluationFigures | None:
    """Figures as they were kept; None for those that an older version kept in another form."""
    try:
        return msgspec.convert(kept, EvaluationFigures)
    except msgspec.ValidationError:
        return None


def _beside_each_other(
    figures: Sequence[EvaluationFigures], rows: Sequence[EvaluationColumns], scored: Sequence[ScorersInForce]
) -> list[EvaluationSummary]:
    return [
        EvaluationSummary(
            **asdict(one),
            scorers=by.scorers,
            rescored=by.rescored,
            side=by.side,
            settings={**side.settings, **orjson.loads(row["options"])},
            rates=rates_of([one]),
        )
        for one, row, by, (_, side) in zip(figures, rows, scored, sides_of_rows(rows), strict=True)
    ]


def scorers_in_force(database: Database, run_id: str, rows: Sequence[EvaluationColumns]) -> list[ScorersInForce]:
    """Of each evaluation, whose scores count, and the rescore that they are from, where they are from one."""
    rescored = ScoreStore(database).rescored(run_id)
    return [
        ScorersInForce(
            model=row["model"],
            benchmark=row["benchmark"],
            side=side,
            scorers=orjson.loads(row["scorers"]),
            rescored=None if (found := rescored.get(row["id"])) is None else RescoredAt(found.at, found.replaced),
        )
        for row, (side, _) in zip(rows, sides_of_rows(rows), strict=True)
    ]


def _summarise(database: Database, row: EvaluationColumns, *, has_ended: bool) -> EvaluationFigures:
    # What computes takes longer to load than kept numbers take to show.
    from proctor.runs.measuring.judging import summarise_judging
    from proctor.runs.measuring.summary import summarise_evaluation
    from proctor.stores.measuring import MeasuringStore

    judging = summarise_judging(database, row["id"], orjson.loads(row["scorers"]))
    return summarise_evaluation(MeasuringStore(database), row, judging, has_ended=has_ended)


def _stop_outcomes(database: Database, run: RunRow) -> list[StopOutcome]:
    from proctor.stopping.rule import outcomes
    from proctor.stores.comparing import evaluations_of

    # A rule of an earlier version watched marks where a metric is shown that is no mean of them: that says nothing.
    found = [measured(database, row) for row in evaluations_of(database, run.id) if metric_of(row) is not None]
    return outcomes(run.plan, found, RunStore(database).last_event(run.id, GROUP_SIZES) or {})


def measured(database: Database, row: EvaluationRow) -> MeasuredEvaluation:
    """An evaluation's values as a stop rule reads them."""
    from proctor.metrics.mean import Mean
    from proctor.stopping.rule import UNREADABLE, MeasuredEvaluation
    from proctor.stores.comparing import marks_with_unreadable

    metric = metric_of(row) or Mean()
    values: dict[str, Value] = {}
    groups: dict[str, str | None] = {}
    is_weighted = False
    for name, value, counted, group, weight in marks_with_unreadable(database, row, next(iter(row.scorers))):
        if value is not None:
            values[name] = metric.sample_value(value)
        else:
            values[name] = None if counted is None else UNREADABLE
        groups[name] = group
        is_weighted = is_weighted or weight != 1
    return MeasuredEvaluation(row.model, row.digest, values, groups, row.samples, is_weighted)


def metric_of(row: EvaluationRow) -> MeanOverSamples | None:
    """The metric that is shown first, where an interval of it can be looked at while the run goes on."""
    from proctor.stopping.watched_metric import watched_metric

    scorer, version = next(iter(row.scorers.items()))
    return watched_metric(scorer, version, row.metrics)
