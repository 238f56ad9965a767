"""A run as people and programs read it."""

from __future__ import annotations

from typing import Any

import orjson

from proctor.domain.run import RunStatus
from proctor.reports.summary import run_json, summarise_evaluation
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
    for row in store.evaluation_rows(run.id):
        if row["summary"] is not None:
            summaries.append(orjson.loads(row["summary"]))
            continue
        summary = summarise_evaluation(results, row, has_ended=has_ended)
        if run.status in ENDED:
            store.save_summary(row["id"], summary)
        summaries.append(summary)
    return run_json(run, summaries)
