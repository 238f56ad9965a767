"""A run as people and programs read it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from proctor.domain.run import RunStatus
from proctor.reports.document import run_json
from proctor.stores.database import Database
from proctor.stores.runs import RunStore

if TYPE_CHECKING:
    from proctor.runs.until import Measured

ENDED = frozenset({RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.CANCELLED})


def read_run(database: Database, reference: str) -> dict[str, Any]:
    """The run's numbers; those of a run that has ended are computed once and kept."""
    store = RunStore(database)
    run = store.get(reference)
    has_ended = run.status in ENDED or not store.is_executing(run.id)
    summaries = []
    rows = store.evaluation_rows(run.id)
    for row in rows:
        if row["summary"] is not None:
            summaries.append(orjson.loads(row["summary"]))
            continue
        summary = _summarise(database, row, has_ended=has_ended)
        if run.status in ENDED:
            store.save_summary(row["id"], summary)
        summaries.append(summary)
    document = run_json(run, summaries)
    if run.has_stop_rule:
        from proctor.runs.until import outcomes

        document["until"] = outcomes(run.plan, [_measured(database, row) for row in rows])
    return document


def _summarise(database: Database, row: dict[str, Any], *, has_ended: bool) -> dict[str, Any]:
    # What computes takes longer to load than kept numbers take to show.
    from proctor.reports.judging import judging_json
    from proctor.reports.summary import summarise_evaluation
    from proctor.stores.results import ResultStore

    return summarise_evaluation(ResultStore(database), row, has_ended=has_ended) | judging_json(database, row)


def _measured(database: Database, row: dict[str, Any]) -> Measured:
    from proctor.runs.until import Measured
    from proctor.stores.results import ResultStore

    scorer, version = next(iter(orjson.loads(row["scorers"]).items()))
    scores = ResultStore(database).sample_scores(row["id"], scorer, version)
    return Measured(row["model"], row["digest"], {score.sample_id: score.value for score in scores})
