"""Two scorers' marks on the same responses, counted."""

from __future__ import annotations

from sqlalchemy import func, select

from proctor.stores.comparing import EvaluationRow
from proctor.stores.database import Database, explained
from proctor.stores.results import is_current
from proctor.stores.schema import responses, scores


def mark_pairs(
    database: Database, evaluation: EvaluationRow, first: str, second: str
) -> list[tuple[float, float, int]]:
    """(first's mark, second's mark, how often): both measured the response, and the response is the current one."""
    one, other = scores.alias("one"), scores.alias("other")
    query = (
        select(one.c.value, other.c.value, func.count())
        .select_from(responses)
        .join(one, one.c.response_id == responses.c.id)
        .join(other, other.c.response_id == responses.c.id)
        .where(
            responses.c.evaluation_id == evaluation.id,
            one.c.scorer == first,
            one.c.version == evaluation.scorers[first],
            other.c.scorer == second,
            other.c.version == evaluation.scorers[second],
            one.c.value.is_not(None),
            other.c.value.is_not(None),
            is_current(),
        )
        .group_by(one.c.value, other.c.value)
        .order_by(one.c.value, other.c.value)
    )
    with explained(database.path), database.engine.connect() as connection:
        return [(a, b, count) for a, b, count in connection.execute(query)]
