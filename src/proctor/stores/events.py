"""What happened to a run, in one order that every reader can trust.

On PostgreSQL a number that a sequence hands out may be committed after a higher one, so a reader that follows would
skip it. An event's number is taken from the run's row, which stays locked until the event is committed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import orjson
from msgspec import Struct

from proctor.domain.errors import NotFoundError
from proctor.domain.json_value import storable_json
from proctor.domain.scope import EVERYTHING, Scope
from proctor.stores.codec import to_json
from proctor.stores.connection import Connection
from proctor.stores.database import Database
from proctor.stores.scoping import of_run, scope_filter

EVENTS_AT_A_TIME = 500
ENDS = ("finished", "failed", "cancelled")


class StoredEvent(Struct, frozen=True):
    number: int
    """Grows by one with each event of the run."""
    at: datetime
    kind: str
    data: dict[str, Any]


def add_event(
    connection: Connection, run_id: str, kind: str, data: Mapping[str, Any], scope: Scope = EVERYTHING
) -> None:
    """Write an event; within a transaction. `scope` is given where it was not seen yet that the run is within it."""
    is_mine, values = ("", ()) if scope.project is None else (" AND project = ?", (scope.project,))
    row = connection.execute(
        f"UPDATE runs SET last_event = last_event + 1 WHERE id = ?{is_mine} RETURNING last_event",  # noqa: S608 - our own
        [run_id, *values],
    ).fetchone()
    if row is None:
        raise NotFoundError(f"No run {run_id!r}.")
    now = datetime.now(UTC).isoformat(timespec="microseconds")
    connection.execute(
        "INSERT INTO events (run_id, number, at, kind, data) VALUES (?, ?, ?, ?, ?)",
        [run_id, row[0], now, kind, to_json(storable_json(data))],
    )


def context_of(database: Database, run_id: str) -> dict[str, str]:
    """What was known where the run was accepted, for the logs and spans of whoever works on it elsewhere."""
    mine = of_run(database, run_id)
    query = f"SELECT data FROM events WHERE {mine.sql} AND kind = 'accepted' ORDER BY number DESC LIMIT 1"  # noqa: S608
    with database.connection() as connection:
        row = connection.execute(query, list(mine.values)).fetchone()
    found = {} if row is None else orjson.loads(row[0])
    return {name: found[name] for name in ("request_id", "traceparent") if name in found}


def find_event(database: Database, kind: str, text: str) -> str | None:
    """The run that has an event of this kind in which the text stands; None where there is none."""
    scope = scope_filter(database)
    query = (
        "SELECT run_id FROM events JOIN runs ON runs.id = events.run_id "  # noqa: S608 - our own words
        f"WHERE kind = ? AND events.data LIKE ?{scope.sql} ORDER BY run_id LIMIT 1"
    )
    with database.connection() as connection:
        row = connection.execute(query, [kind, f"%{text}%", *scope.values]).fetchone()
    return None if row is None else str(row[0])


def events_after(database: Database, run_id: str, number: int = 0) -> Iterator[StoredEvent]:
    """The run's events in their order, those with a higher number than this one."""
    mine = of_run(database, run_id)
    query = f"SELECT number, at, kind, data FROM events WHERE {mine.sql} AND number > ? ORDER BY number LIMIT ?"  # noqa: S608
    while True:
        with database.connection() as connection:
            rows = connection.execute(query, [*mine.values, number, EVENTS_AT_A_TIME]).fetchall()
        for row in rows:
            number = row["number"]
            yield StoredEvent(number, datetime.fromisoformat(row["at"]), row["kind"], orjson.loads(row["data"]))
        if len(rows) < EVENTS_AT_A_TIME:
            return


def last_number(database: Database, run_id: str) -> tuple[int, bool]:
    """The number of the run's latest event, and whether its end is among them; a resumed run has not ended."""
    turns = ("accepted", *ENDS)
    places = ", ".join("?" for _ in turns)
    mine, scope = of_run(database, run_id), scope_filter(database)
    turn = f"SELECT kind FROM events WHERE {mine.sql} AND kind IN ({places}) ORDER BY number DESC LIMIT 1"  # noqa: S608
    with database.connection() as connection:
        row = connection.execute(
            f"SELECT last_event FROM runs WHERE id = ?{scope.sql}",  # noqa: S608 - our own
            [run_id, *scope.values],
        ).fetchone()
        kind = connection.execute(turn, [*mine.values, *turns]).fetchone()
    return (0 if row is None else row[0]), kind is not None and kind[0] in ENDS
