"""What was used: answers, tokens and money by day, project, user and model; workers' time."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Literal

from msgspec import Struct
from msgspec.structs import asdict

from proctor.stores.codec import from_pico
from proctor.stores.connection import POSTGRESQL
from proctor.stores.database import Database
from proctor.stores.scoping import scope_filter

DAY_SECONDS = 86_400
Dimension = Literal["day", "project", "user", "model"]
Key = tuple[str | int | None, ...]
NAMED: Mapping[Dimension, str] = {
    "project": "runs.project",
    "user": "runs.started_by",
    "model": "evaluations.model",
}


class UsageRow(Struct, frozen=True):
    key: Key
    """The values of the dimensions, in their order; a day as days since 1970."""
    runs: int
    answers: int
    cached: int
    failed: int
    input_tokens: int
    output_tokens: int
    cost_usd: Decimal
    """Of answers whose cost is known."""
    unpriced: int
    """Answers whose cost nobody knows."""
    asks: int = 0
    """Of the playground."""

    def __add__(self, other: UsageRow) -> UsageRow:
        mine, its = (asdict(one) for one in (self, other))
        return UsageRow(self.key, **{name: mine[name] + its[name] for name in mine if name != "key"})


def add_worker_time(database: Database, run_id: str, seconds: float) -> None:
    """A worker was busy with the run for so long, until now; nothing is written for a run that is gone."""
    scope = scope_filter(database)
    with database.connection() as connection:
        connection.execute(
            "INSERT INTO worker_time (run_id, day, seconds) "  # noqa: S608 - our own words
            f"SELECT id, CAST(? AS integer), CAST(? AS double precision) FROM runs WHERE id = ?{scope.sql} "
            "ON CONFLICT (run_id, day) DO UPDATE SET seconds = worker_time.seconds + excluded.seconds",
            [int(time.time() // DAY_SECONDS), seconds, run_id, *scope.values],
        )


def read_usage(database: Database, by: Sequence[Dimension], since: int, until: int) -> list[UsageRow]:
    """Of the days from `since` on and before `until`; answers from the cache are counted, and cost nothing."""
    scope = scope_filter(database)
    whole = "floor({})" if database.dialect is POSTGRESQL else "CAST({} AS integer)"
    day = whole.format(f"responses.created_at / {DAY_SECONDS}")
    keys = [f"CAST({day} AS integer)" if name == "day" else NAMED[name] for name in by]
    asked = "NOT responses.is_cached"
    sums = [
        "count(DISTINCT runs.id)",
        f"sum(CASE WHEN {asked} AND responses.error IS NULL THEN 1 ELSE 0 END)",
        "sum(CASE WHEN responses.is_cached THEN 1 ELSE 0 END)",
        "sum(CASE WHEN responses.error IS NOT NULL THEN 1 ELSE 0 END)",
        *(f"sum(CASE WHEN {asked} THEN responses.{name} END)" for name in ("input_tokens", "output_tokens")),
        f"sum(CASE WHEN {asked} THEN responses.cost_pico_usd END)",
        f"sum(CASE WHEN {asked} AND responses.error IS NULL AND responses.cost_pico_usd IS NULL THEN 1 ELSE 0 END)",
    ]
    places = ", ".join(str(place + 1) for place in range(len(by)))
    query = (
        f"SELECT {', '.join([*keys, *sums])} FROM responses "  # noqa: S608 - our own words
        "JOIN evaluations ON evaluations.id = responses.evaluation_id AND evaluations.month = responses.month "
        "JOIN runs ON runs.id = evaluations.run_id "
        f"WHERE responses.created_at >= ? AND responses.created_at < ?{scope.sql} GROUP BY {places} ORDER BY {places}"
    )
    with database.connection() as connection:
        rows = connection.execute(query, [since * DAY_SECONDS, until * DAY_SECONDS, *scope.values]).fetchall()
    found = []
    for row in map(tuple, rows):
        runs, answers, cached, failed, given, made, cost, unpriced = (int(value or 0) for value in row[len(by) :])
        usd = from_pico(cost) or Decimal(0)
        found.append(UsageRow(row[: len(by)], runs, answers, cached, failed, given, made, usd, unpriced))
    return found


def read_worker_time(database: Database, by: Sequence[Dimension], since: int, until: int) -> dict[Key, float]:
    """Seconds that workers were busy, by the same dimensions; by model it is not known."""
    scope = scope_filter(database)
    keys = ["worker_time.day" if name == "day" else NAMED[name] for name in by]
    places = ", ".join(str(place + 1) for place in range(len(by)))
    query = (
        f"SELECT {', '.join(keys)}, sum(worker_time.seconds) FROM worker_time "  # noqa: S608 - our own words
        "JOIN runs ON runs.id = worker_time.run_id "
        f"WHERE worker_time.day >= ? AND worker_time.day < ?{scope.sql} GROUP BY {places}"
    )
    with database.connection() as connection:
        rows = connection.execute(query, [since, until, *scope.values]).fetchall()
    return {tuple(row)[:-1]: float(tuple(row)[-1]) for row in rows}
