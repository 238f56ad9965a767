"""What happened to a run, in one order that every reader can trust.

On PostgreSQL a number that a sequence hands out may be committed after a higher one, so a reader that follows would
skip it. An event's number is taken from the run's row, which stays locked until the event is committed.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import orjson
from msgspec import Struct

from proctor.domain.json_value import storable_json
from proctor.stores.codec import to_json
from proctor.stores.connection import Connection
from proctor.stores.database import Database

EVENTS_AT_A_TIME = 500


class StoredEvent(Struct, frozen=True):
    number: int
    """Grows by one with each event of the run."""
    at: datetime
    kind: str
    data: dict[str, Any]


def add_event(connection: Connection, run_id: str, kind: str, data: dict[str, Any]) -> None:
    """Write an event; within a transaction."""
    row = connection.execute(
        "UPDATE runs SET last_event = last_event + 1 WHERE id = ? RETURNING last_event", [run_id]
    ).fetchone()
    now = datetime.now(UTC).isoformat(timespec="microseconds")
    connection.execute(
        "INSERT INTO events (run_id, number, at, kind, data) VALUES (?, ?, ?, ?, ?)",
        [run_id, row[0], now, kind, to_json(storable_json(data))],
    )


def events_after(database: Database, run_id: str, number: int = 0) -> Iterator[StoredEvent]:
    """The run's events in their order, those with a higher number than this one."""
    query = "SELECT number, at, kind, data FROM events WHERE run_id = ? AND number > ? ORDER BY number LIMIT ?"
    while True:
        with database.connection() as connection:
            rows = connection.execute(query, [run_id, number, EVENTS_AT_A_TIME]).fetchall()
        for row in rows:
            number = row["number"]
            yield StoredEvent(number, datetime.fromisoformat(row["at"]), row["kind"], orjson.loads(row["data"]))
        if len(rows) < EVENTS_AT_A_TIME:
            return
