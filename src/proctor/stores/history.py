"""How long prompts and answers were in earlier runs: what a cost estimate is made of."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, func, select

from proctor.stores.database import Database, explained
from proctor.stores.schema import evaluations, responses, samples


@dataclass(frozen=True, slots=True)
class History:
    """Earlier answers: how many, how many tokens they took, and how many characters of prompt made a token."""

    answers: int
    output_mean: float
    output_deviation: float
    characters_per_token: float


def find_history(database: Database, model: str, benchmark: str | None) -> History | None:
    """What is known of this model, on this benchmark or, without one, on any; None when it was never asked."""
    wanted: list[ColumnElement[bool]] = [evaluations.c.model == model]
    if benchmark is not None:
        wanted.append(evaluations.c.benchmark == benchmark)
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
    deviation = math.sqrt(max(square - mean * mean, 0.0))
    return History(count, float(mean), deviation, float(characters) / float(inputs))
