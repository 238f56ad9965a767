"""How long prompts and answers were in earlier runs, and what is answered already: what a cost estimate is made of."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, func, select

from proctor.domain.message import Json
from proctor.stores.codec import to_json
from proctor.stores.database import Database, explained
from proctor.stores.schema import evaluations, responses, samples
from proctor.stores.statements import places

KEYS_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class History:
    """Earlier answers: how many, how many tokens they took, and how many characters of prompt made a token."""

    answers: int
    output_mean: float
    output_deviation: float
    """Of single answers; where there is only one, as large as the mean."""
    characters_per_token: float


def find_history(
    database: Database, model: str, benchmark: str | None = None, options: Mapping[str, Json] | None = None
) -> History | None:
    """What is known of this model, on this benchmark and with these options if given; None when nothing is."""
    wanted: list[ColumnElement[bool]] = [evaluations.c.model == model]
    if benchmark is not None:
        wanted.append(evaluations.c.benchmark == benchmark)
    if options is not None:
        wanted.append(evaluations.c.options == to_json(options))
    tokens = responses.c.output_tokens
    query = (
        select(
            func.count(),
            func.avg(tokens),
            func.avg(tokens * tokens),
            func.sum(func.length(samples.c.prompt)),
            func.sum(responses.c.input_tokens),
        )
        .select_from(responses)
        .join(evaluations, evaluations.c.id == responses.c.evaluation_id)
        .join(samples, samples.c.digest == responses.c.sample_digest)
        .where(*wanted, tokens.is_not(None), responses.c.input_tokens > 0, ~responses.c.is_cached)
    )
    with explained(database.path), database.engine.connect() as connection:
        row: Any = connection.execute(query).one()
    count, mean, square, characters, inputs = row
    if not count:
        return None
    spread = math.sqrt(max(float(square) - float(mean) ** 2, 0.0) * count / (count - 1)) if count > 1 else float(mean)
    return History(count, float(mean), spread, float(characters) / float(inputs))


def count_answered(database: Database, keys: Sequence[str]) -> int:
    """How many of these requests have an answer in the cache."""
    found = 0
    with explained(database.path), closing(database.connect()) as connection:
        for start in range(0, len(keys), KEYS_AT_ONCE):
            some = keys[start : start + KEYS_AT_ONCE]
            row = connection.execute(
                f"SELECT count(DISTINCT cache_key) FROM responses WHERE cache_key IN ({places(len(some))})",  # noqa: S608
                list(some),
            ).fetchone()
            found += row[0]
    return found
