"""The newest results of an evaluation, with no more of each than its mark."""

from __future__ import annotations

import orjson
from msgspec import Struct
from sqlalchemy import select

from proctor.domain.trial import Outcome
from proctor.stores.comparing import EvaluationRow
from proctor.stores.database import Database
from proctor.stores.keys import is_of_evaluation
from proctor.stores.result_filters import is_current, is_of, outcome_sql
from proctor.stores.tables.results import responses, scores


class MarkedResult(Struct, frozen=True):
    id: int
    sample_id: str
    created_at: float
    outcome: Outcome
    value: float | None
    """Of the scorer that counts."""


def latest_results(database: Database, evaluation: EvaluationRow, limit: int) -> list[MarkedResult]:
    """Oldest first."""
    scorer, version = next(iter(evaluation.scorers.items()))
    outcome = outcome_sql(orjson.dumps(evaluation.scorers).decode())
    query = (
        select(responses.c.id, responses.c.sample_id, responses.c.created_at, outcome.label("outcome"), scores.c.value)
        .outerjoin(scores, is_of(scorer, version))
        .where(is_of_evaluation(database, evaluation.id), is_current())
        .order_by(responses.c.id.desc())
        .limit(limit)
    )
    rows = list(database.stream(query))
    return [
        MarkedResult(row.id, row.sample_id, row.created_at, Outcome(row.outcome), row.value) for row in reversed(rows)
    ]
