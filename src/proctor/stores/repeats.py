"""Several answers of one model to the same sample, sample by sample."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

import orjson
from msgspec import Struct
from sqlalchemy import func, or_, select

from proctor.stores.database import Database
from proctor.stores.json_columns import json_text
from proctor.stores.keys import is_body_of, is_of_evaluation
from proctor.stores.measuring import Unmeasured
from proctor.stores.result_filters import counted_value, is_current, is_of
from proctor.stores.tables.results import bodies, responses, samples, scores


class Repeat(Struct, frozen=True):
    """One epoch: its mark, what was read out of the response, and the whole of it."""

    value: float
    is_invalid: bool
    answer: str | None
    text: str


class StoredRepeats(Struct, frozen=True):
    """One sample's epochs in their order."""

    sample_id: str
    category: str | None
    group: str | None
    has_alternatives: bool
    """Several targets, of which any will do: two right answers need not be the same."""
    repeats: tuple[Repeat, ...]


def sample_repeats(
    database: Database,
    evaluation_id: int,
    scorer: str,
    version: str,
    unmeasured: Unmeasured = Unmeasured.LEFT_OUT,
) -> Iterator[StoredRepeats]:
    """Each sample's epochs; what could not be measured is left out, or counted as wrong and unreadable."""
    value = counted_value(unmeasured)
    query = (
        select(
            responses.c.sample_id,
            responses.c.category,
            responses.c.cluster,
            value.label("value"),
            or_(scores.c.value.is_(None), scores.c.is_invalid).label("is_invalid"),
            scores.c.answer,
            func.coalesce(bodies.c.text, "").label("text"),
            json_text(samples.c.body, "targets").label("targets"),
        )
        .outerjoin(scores, is_of(scorer, version))
        .outerjoin(bodies, is_body_of())
        .join(samples, samples.c.digest == responses.c.sample_digest)
        .where(is_of_evaluation(database, evaluation_id), is_current(), value.is_not(None))
        .order_by(responses.c.sample_id, responses.c.epoch)
    )
    for sample_id, group in groupby(database.stream(query), key=lambda row: row.sample_id):
        yield _together(sample_id, list(group))


def _together(sample_id: str, rows: list[Any]) -> StoredRepeats:
    repeats = tuple(Repeat(row.value, bool(row.is_invalid), row.answer, row.text) for row in rows)
    return StoredRepeats(
        sample_id, rows[0].category, rows[0].cluster, len(orjson.loads(rows[0].targets or "[]")) > 1, repeats
    )
