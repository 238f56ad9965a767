"""What asks of the playground used: each answer that has ended, on the day it was asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal

from proctor.stores.codec import from_pico
from proctor.stores.connection import POSTGRESQL
from proctor.stores.database import Database
from proctor.stores.moments import text_of
from proctor.stores.scoping import scope_filter
from proctor.stores.usage import DAY_SECONDS, Dimension, UsageRow

_SEEN = (
    "(NOT playground_asks.is_blind OR playground_asks.revealed_at IS NOT NULL OR EXISTS ("
    "SELECT 1 FROM playground_votes WHERE playground_votes.ask_id = playground_asks.id "
    "AND (playground_votes.voter = ? OR ?)))"
)
"""Whether the reader may know who is who: `runs.playground.showing.is_revealed`, for all asks at once."""


def read_ask_usage(
    database: Database, by: Sequence[Dimension], since: int, until: int, *, voter: str, may_vote: bool
) -> list[UsageRow]:
    """Of the days from `since` on and before `until`; the model is None while its name is hidden from the reader."""
    is_postgresql, scope = database.dialect is POSTGRESQL, scope_filter(database, "playground_asks")

    def detail(*path: str) -> str:
        if is_postgresql:
            return f"(playground_answers.details::json #>> '{{{','.join(path)}}}')"
        return f"json_extract(playground_answers.details, '$.{'.'.join(path)}')"

    day = "substr(playground_asks.created_at, 1, 10)"
    named: Mapping[Dimension, str] = {
        "day": f"CAST({day} AS date) - DATE '1970-01-01'"
        if is_postgresql
        else f"CAST(julianday({day}) - julianday('1970-01-01') AS integer)",
        "project": "playground_asks.project",
        "user": "playground_asks.author",
        "model": f"CASE WHEN {_SEEN} THEN playground_answers.model END",
    }
    pico = f"CAST(round(CAST({detail('cost_usd')} AS numeric) * 1000000000000) AS bigint)"
    has_failed = "playground_answers.state = 'failed'"
    sums = [
        "count(DISTINCT playground_asks.id)",
        f"sum(CASE WHEN {has_failed} THEN 0 ELSE 1 END)",
        f"sum(CASE WHEN {has_failed} THEN 1 ELSE 0 END)",
        f"sum(CAST({detail('usage', 'input_tokens')} AS bigint))",
        f"sum(CAST({detail('usage', 'output_tokens')} AS bigint))",
        f"sum({pico})",
        f"sum(CASE WHEN {has_failed} OR {detail('cost_usd')} IS NOT NULL THEN 0 ELSE 1 END)",
    ]
    places = ", ".join(str(place + 1) for place in range(len(by)))
    query = (
        f"SELECT {', '.join([*(named[name] for name in by), *sums])} FROM playground_answers "  # noqa: S608 - our own
        "JOIN playground_asks ON playground_asks.id = playground_answers.ask_id "
        "WHERE playground_answers.state NOT IN ('waiting', 'streaming') AND playground_asks.created_at >= ? "
        f"AND playground_asks.created_at < ?{scope.sql} GROUP BY {places} ORDER BY {places}"
    )
    seen = [voter, not may_vote] * by.count("model")
    span = [text_of(datetime.fromtimestamp(number * DAY_SECONDS, UTC)) for number in (since, until)]
    with database.connection() as connection:
        rows = connection.execute(query, [*seen, *span, *scope.values]).fetchall()
    found = []
    for row in map(tuple, rows):
        asks, answers, failed, given, made, cost, unpriced = (int(value or 0) for value in row[len(by) :])
        usd = from_pico(cost) or Decimal(0)
        found.append(UsageRow(row[: len(by)], 0, answers, 0, failed, given, made, usd, unpriced, asks))
    return found
