"""Several answers of one model to the same sample, sample by sample."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from sqlalchemy import select

from proctor.metrics.repeats import SampleRepeats
from proctor.stores.database import Database, explained
from proctor.stores.results import ROWS_AT_A_TIME, is_current
from proctor.stores.schema import bodies, responses, scores


def sample_repeats(
    database: Database, evaluation_id: int, scorer: str, version: str, *, texts: bool = False
) -> Iterator[SampleRepeats]:
    """Each sample's epochs, what could not be measured left out; `texts` gives whole responses as the answers."""
    query = (
        select(
            responses.c.sample_id,
            responses.c.category,
            responses.c.cluster,
            scores.c.value,
            (bodies.c.text if texts else scores.c.answer).label("answer"),
        )
        .join(scores, scores.c.response_id == responses.c.id)
        .where(
            responses.c.evaluation_id == evaluation_id,
            scores.c.scorer == scorer,
            scores.c.version == version,
            scores.c.value.is_not(None),
            is_current(),
        )
        .order_by(responses.c.sample_id, responses.c.epoch)
    )
    if texts:
        query = query.join(bodies, bodies.c.response_id == responses.c.id)
    with explained(database.path), database.engine.connect() as connection:
        rows = connection.execution_options(yield_per=ROWS_AT_A_TIME).execute(query)
        for sample_id, group in groupby(rows, key=lambda row: row.sample_id):
            yield _together(sample_id, list(group))


def _together(sample_id: str, rows: list[Any]) -> SampleRepeats:
    values = tuple(row.value for row in rows)
    answers = tuple(row.answer for row in rows)
    return SampleRepeats(sample_id, values, answers, rows[0].category, rows[0].cluster)
