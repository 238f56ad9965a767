"""A run as people and programs read it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import orjson
from msgspec.structs import asdict

from proctor.domain.run import RunStatus
from proctor.reports.document import run_json
from proctor.runs.sides import sides_of_rows
from proctor.stores.database import Database
from proctor.stores.runs import GROUP_SIZES, RunStore
from proctor.stores.scores import ScoreStore

if TYPE_CHECKING:
    from proctor.stopping.rule import MeasuredEvaluation, Value
    from proctor.stores.comparing import EvaluationRow

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
    named = scorers_in_force(database, run.id, rows)
    parts = zip(summaries, named, _sides(rows), strict=True)
    document = run_json(run, [{**summary, **scorers, **side} for summary, scorers, side in parts])
    if run.has_stop_rule:
        from proctor.stopping.rule import outcomes
        from proctor.stores.comparing import evaluations_of

        measured = [_measured(database, row) for row in evaluations_of(database, run.id)]
        document["until"] = outcomes(run.plan, measured, store.last_event(run.id, GROUP_SIZES) or {})
    return document


def _sides(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Of each evaluation, what it is called beside the others, and how it was asked."""
    return [
        {"side": name, "settings": {**side.settings, **orjson.loads(row["options"])}}
        for (name, side), row in zip(sides_of_rows(rows), rows, strict=True)
    ]


def scorers_in_force(database: Database, run_id: str, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Of each evaluation, whose scores count, and the rescore that they are from, where they are from one."""
    rescored = ScoreStore(database).rescored(run_id)
    return [
        {
            "model": row["model"],
            "benchmark": row["benchmark"],
            "scorers": orjson.loads(row["scorers"]),
            "rescored": None if (found := rescored.get(row["id"])) is None else asdict(found),
        }
        for row in rows
    ]


def _summarise(database: Database, row: dict[str, Any], *, has_ended: bool) -> dict[str, Any]:
    # What computes takes longer to load than kept numbers take to show.
    from proctor.reports.judging import judging_json
    from proctor.reports.summary import summarise_evaluation
    from proctor.stores.results import ResultStore

    return summarise_evaluation(ResultStore(database), row, has_ended=has_ended) | judging_json(database, row)


def _measured(database: Database, row: EvaluationRow) -> MeasuredEvaluation:
    from proctor.stopping.rule import UNREADABLE, MeasuredEvaluation
    from proctor.stores.comparing import EvaluationMarks
    from proctor.stores.results import Unmeasured

    scorer = next(iter(row.scorers))
    ways = (
        EvaluationMarks(database, row, scorer, unmeasured=how)
        for how in (Unmeasured.LEFT_OUT, Unmeasured.UNREADABLE_WRONG)
    )
    values: dict[str, Value] = {}
    groups: dict[str, str | None] = {}
    for (name, value, group, _), (_, counted, *_) in zip(*ways, strict=True):
        values[name] = UNREADABLE if value is None and counted is not None else value
        groups[name] = group
    return MeasuredEvaluation(row.model, row.digest, values, groups, row.samples)
