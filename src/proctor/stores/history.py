"""How long prompts and answers were in earlier runs, and what is answered already: what a cost estimate is made of."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import orjson
from msgspec import Struct
from sqlalchemy import Float, cast, func, select

from proctor.domain.message import Json
from proctor.stores.codec import to_json
from proctor.stores.database import Database
from proctor.stores.keys import is_body_of, is_in_evaluation
from proctor.stores.scoping import in_scope, scope_filter
from proctor.stores.statements import places
from proctor.stores.tables.results import bodies, responses, samples, scores
from proctor.stores.tables.runs import evaluations

KEYS_AT_ONCE = 500


REPLIES_LOOKED_AT = 2_000


class Lengths(Struct, frozen=True):
    """Earlier texts: how many, and how long."""

    answers: int
    mean: float
    deviation: float
    """Of single texts; where there is only one, as large as the mean."""


class History(Struct, frozen=True):
    """Earlier answers: how many tokens they took, and how many characters of prompt made a token."""

    output: Lengths
    characters_per_token: float


def find_history(
    database: Database, model: str, benchmark: str, options: Mapping[str, Json] | None = None
) -> History | None:
    """What is known of this model on this benchmark, with these options if given; None when nothing is."""
    wanted = in_scope(database, evaluations)
    wanted += [evaluations.c.model == model, evaluations.c.benchmark == benchmark]
    if options is not None:
        wanted.append(evaluations.c.options == to_json(options))
    tokens = cast(responses.c.output_tokens, Float)  # squares of whole numbers could be too large
    query = (
        select(
            func.count(),
            func.avg(tokens),
            func.avg(tokens * tokens),
            func.sum(func.length(samples.c.prompt)),
            func.sum(responses.c.input_tokens),
        )
        .select_from(responses)
        .join(evaluations, is_in_evaluation())
        .join(samples, samples.c.digest == responses.c.sample_digest)
        .where(*wanted, tokens.is_not(None), responses.c.input_tokens > 0, ~responses.c.is_cached)
    )
    with database.reading() as connection:
        row: Any = connection.execute(query).one()
    count, mean, square, characters, inputs = row
    if not count:
        return None
    return History(_lengths(count, float(mean), float(square)), float(characters) / float(inputs))


def _lengths(count: int, mean: float, square: float) -> Lengths:
    spread = math.sqrt(max(square - mean**2, 0.0) * count / (count - 1)) if count > 1 else mean
    return Lengths(count, mean, spread)


def find_answer_lengths(database: Database, model: str, benchmark: str | None = None) -> Lengths | None:
    """How many characters earlier answers of this model had, on this benchmark if given; None when there are none."""
    characters = cast(func.length(bodies.c.text), Float)
    wanted = in_scope(database, evaluations)
    wanted += [evaluations.c.model == model, ~responses.c.is_cached]
    if benchmark is not None:
        wanted.append(evaluations.c.benchmark == benchmark)
    query = (
        select(func.count(), func.avg(characters), func.avg(characters * characters))
        .select_from(responses)
        .join(evaluations, is_in_evaluation())
        .join(bodies, is_body_of())
        .where(*wanted)
    )
    with database.reading() as connection:
        count, mean, square = connection.execute(query).one()
    return _lengths(count, float(mean), float(square)) if count else None


def find_reply_lengths(database: Database, judge: str) -> Lengths | None:
    """How many tokens a judge's latest replies had; None when there are none."""
    query = (
        select(scores.c.details)
        .where(scores.c.details.contains(to_json({"judge": judge})[1:-1], autoescape=True), *in_scope(database, scores))
        .order_by(scores.c.response_id.desc())
        .limit(REPLIES_LOOKED_AT)
    )
    with database.reading() as connection:
        details = [orjson.loads(text) for (text,) in connection.execute(query)]
    tokens = [
        float(reply["usage"]["output_tokens"])
        for detail in details
        for ruling in detail.get("judges", ())
        if ruling["judge"] == judge
        for reply in ruling["hearings"]
        if reply["usage"]["output_tokens"] is not None
    ]
    if not tokens:
        return None
    return _lengths(len(tokens), sum(tokens) / len(tokens), sum(n * n for n in tokens) / len(tokens))


def answers_to(database: Database, keys: Sequence[str]) -> dict[str, str]:
    """What is in the cache for these requests, by key."""
    found: dict[str, str] = {}
    scope = scope_filter(database, "responses")
    with database.connection() as connection:
        for start in range(0, len(keys), KEYS_AT_ONCE):
            some = keys[start : start + KEYS_AT_ONCE]
            rows = connection.execute(
                "SELECT cache_key, text FROM responses "  # noqa: S608 - only placeholders are put in
                "JOIN bodies ON response_id = id AND bodies.month = responses.month "
                f"WHERE cache_key IN ({places(len(some))}){scope.sql} ORDER BY id",
                [*some, *scope.values],
            )
            found.update((row["cache_key"], row["text"]) for row in rows)
    return found


def count_answered(database: Database, keys: Sequence[str]) -> int:
    """How many of these requests have an answer in the cache."""
    found = 0
    scope = scope_filter(database, "responses")
    with database.connection() as connection:
        for start in range(0, len(keys), KEYS_AT_ONCE):
            some = keys[start : start + KEYS_AT_ONCE]
            row = connection.execute(
                "SELECT count(DISTINCT cache_key) FROM responses "  # noqa: S608 - only placeholders are put in
                f"WHERE cache_key IN ({places(len(some))}){scope.sql}",
                [*some, *scope.values],
            ).fetchone()
            found += row[0]
    return found
