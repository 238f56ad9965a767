"""A run as people and programs read it."""

from __future__ import annotations

from typing import Any

import orjson

from proctor.domain.run import RunStatus
from proctor.reports.judging import judging_json
from proctor.reports.summary import run_json, summarise_evaluation
from proctor.runs.until import Measured, outcomes
from proctor.stores.database import Database
from proctor.stores.results import ResultStore
from proctor.stores.runs import RunStore

ENDED = frozenset({RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.CANCELLED})


def read_run(database: Database, reference: str) -> dict[str, Any]:
    """The run's numbers; those of a run that has ended are computed once and kept."""
    store = RunStore(database)
    run = store.get(reference)
    has_ended = run.status in ENDED or not store.is_executing(run.id)
    results = ResultStore(database)
    summaries = []
    rows = store.evaluation_rows(run.id)
    for row in rows:
        if row["summary"] is not None:
            summaries.append(orjson.loads(row["summary"]))
            continue
        summary = summarise_evaluation(results, row, has_ended=has_ended) | judging_json(database, row)
        if run.status in ENDED:
            store.save_summary(row["id"], summary)
        summaries.append(summary)
    document = run_json(run, summaries)
    if run.plan.until is not None:
        document["until"] = outcomes(run.plan, [_measured(results, row) for row in rows])
    return document


def _measured(results: ResultStore, row: dict[str, Any]) -> Measured:
    scorer, version = next(iter(orjson.loads(row["scorers"]).items()))
    values = {score.sample_id: score.value for score in results.sample_scores(row["id"], scorer, version)}
    return Measured(row["model"], row["digest"], values)
