"""Two sets of scores of one evaluation, beside each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from proctor.metrics.registry import create_metric
from proctor.reports.judging import judge_summary
from proctor.reports.labels import metrics_of, title_json
from proctor.reports.summary import estimate_json, scores_for
from proctor.stores.database import Database
from proctor.stores.results import ResultStore
from proctor.stores.scores import ScoreSet, ScoreStore

Versions = Mapping[str, str]
"""Scorers by name, each with the version that counts."""


def side_by_side(database: Database, row: Mapping[str, Any], before: Versions, after: Versions) -> dict[str, Any]:
    """The figures of both sets of scores, and how many verdicts differ."""
    store = ScoreStore(database)
    sets = {(item.scorer, item.version): item for item in store.sets(row["id"])}
    first = next(iter(before), None)
    changes = []
    for scorer, version in after.items():
        old = scorer if scorer in before else first
        if old is None or (old, before[old]) == (scorer, version):
            continue
        found = store.changes(row["id"], (old, before[old]), (scorer, version))
        changes.append({
            "from": f"{old}@{before[old]}", "to": f"{scorer}@{version}", "compared": found.compared,
            "changed": found.changed, "higher": found.higher, "lower": found.lower,
        })  # fmt: skip
    return {
        "model": row["model"],
        "benchmark": row["benchmark"],
        "before": {scorer: _figures(database, row, sets, scorer, version) for scorer, version in before.items()},
        "after": {scorer: _figures(database, row, sets, scorer, version) for scorer, version in after.items()},
        "changes": changes,
    }


def _figures(
    database: Database, row: Mapping[str, Any], sets: Mapping[tuple[str, str], ScoreSet], scorer: str, version: str
) -> dict[str, Any]:
    found = sets.get((scorer, version), ScoreSet(scorer, version, 0, 0, 0))
    metrics: dict[str, Any] = {}
    results = ResultStore(database)
    has_parts = results.tally_scorer(row["id"], scorer, version).has_parts
    for name in metrics_of(scorer, orjson.loads(row["metrics"])):
        metric = create_metric(name)
        scores = scores_for(metric, results, row["id"], scorer, version)
        metrics[name] = estimate_json(metric.measure(scores)) | title_json(name, name, has_parts=has_parts)
    figures = {
        "version": version,
        "scored": found.scored,
        "invalid": found.invalid,
        "unscored": found.unscored,
        "metrics": metrics,
    }
    judges = judge_summary(database, row["id"], scorer, version)
    if judges is not None:
        figures |= {"judges": judges.judges_json(), "agreement": judges.agreement()}
    return figures
