"""Two scorers' marks on the same responses."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from sqlalchemy import select

from proctor.stores.comparing import EvaluationRow
from proctor.stores.database import Database
from proctor.stores.keys import is_of_evaluation, is_score_of
from proctor.stores.result_filters import is_current
from proctor.stores.tables.results import responses, scores


class MarkPair(Struct, frozen=True):
    """What two scorers say of one response."""

    sample_id: str
    group: str | None
    """Samples of one group are not independent of each other."""
    first: float
    second: float


def mark_pairs(database: Database, evaluation: EvaluationRow, first: str, second: str) -> Iterator[MarkPair]:
    """The current responses that both measured, those of a sample one after the other."""
    one, other = scores.alias("one"), scores.alias("other")
    query = (
        select(responses.c.sample_id, responses.c.cluster, one.c.value, other.c.value)
        .select_from(responses)
        .join(one, is_score_of(one))
        .join(other, is_score_of(other))
        .where(
            is_of_evaluation(database, evaluation.id),
            one.c.scorer == first,
            one.c.version == evaluation.scorers[first],
            other.c.scorer == second,
            other.c.version == evaluation.scorers[second],
            one.c.value.is_not(None),
            other.c.value.is_not(None),
            is_current(),
        )
        .order_by(responses.c.sample_id)
    )
    for row in database.stream(query):
        yield MarkPair(*row)
