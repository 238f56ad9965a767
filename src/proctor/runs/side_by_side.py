"""Two sets of scores of one evaluation, beside each other."""

from __future__ import annotations

from collections.abc import Mapping

import orjson
from msgspec import UNSET
from msgspec.structs import replace

from proctor.domain.documents.estimate import MetricEstimate
from proctor.domain.documents.rescored import RescoredEvaluation, ScoreChange, ScorerFigures
from proctor.metrics.labels import metric_title, metrics_of
from proctor.metrics.registry import create_metric
from proctor.runs.columns import EvaluationColumns
from proctor.runs.measuring.judging import judge_summary
from proctor.runs.measuring.summary import scores_for
from proctor.stores.database import Database
from proctor.stores.measuring import MeasuringStore
from proctor.stores.scores import ScoreSet, ScoreStore

Versions = Mapping[str, str]
"""Scorers by name, each with the version that counts."""


def side_by_side(
    database: Database,
    row: EvaluationColumns,
    before: Versions,
    after: Versions,
    *,
    side: str,
    already_scored: int,
) -> RescoredEvaluation:
    """The figures of both sets of scores, and how many verdicts differ."""
    store = ScoreStore(database)
    sets = {(item.scorer, item.version): item for item in store.sets(row["id"])}
    return RescoredEvaluation(
        model=row["model"],
        benchmark=row["benchmark"],
        side=side,
        before={scorer: _figures(database, row, sets, scorer, version) for scorer, version in before.items()},
        after={scorer: _figures(database, row, sets, scorer, version) for scorer, version in after.items()},
        changes=_changes(store, row["id"], before, after),
        already_scored=already_scored,
    )


def _changes(store: ScoreStore, evaluation_id: int, before: Versions, after: Versions) -> list[ScoreChange]:
    first = next(iter(before), None)
    changes = []
    for scorer, version in after.items():
        old = scorer if scorer in before else first
        if old is None or (old, before[old]) == (scorer, version):
            continue
        found = store.changes(evaluation_id, (old, before[old]), (scorer, version))
        names = (f"{old}@{before[old]}", f"{scorer}@{version}")
        changes.append(ScoreChange(*names, found.compared, found.changed, found.higher, found.lower))
    return changes


def _figures(
    database: Database, row: EvaluationColumns, sets: Mapping[tuple[str, str], ScoreSet], scorer: str, version: str
) -> ScorerFigures:
    found = sets.get((scorer, version), ScoreSet(scorer, version, 0, 0, 0))
    metrics: dict[str, MetricEstimate] = {}
    results = MeasuringStore(database)
    has_parts = results.tally_scorer(row["id"], scorer, version).has_parts
    for name in metrics_of(scorer, orjson.loads(row["metrics"])):
        metric = create_metric(name)
        estimate = MetricEstimate.of(metric.measure(scores_for(metric, results, row["id"], scorer, version)))
        metrics[name] = replace(estimate, title=metric_title(name, name, has_parts=has_parts))
    judges = judge_summary(database, row["id"], scorer, version)
    return ScorerFigures(
        version=version,
        scored=found.scored,
        invalid=found.invalid,
        unscored=found.unscored,
        metrics=metrics,
        judges=None if judges is None else judges.work(),
        agreement=UNSET if judges is None else judges.agreement(),
    )
