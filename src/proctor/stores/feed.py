"""The events of all runs in one order that every reader can trust, which a project's stream follows.

A run's events are numbered while they are written, under the run's lock. Over all runs no lock is shared: whoever
follows numbers what was committed meanwhile, one process at a time, so that no place is ever filled in later.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import orjson
from msgspec import Struct

from proctor.domain.scope import EVERYTHING
from proctor.stores.connection import Connection
from proctor.stores.database import Database
from proctor.stores.scoping import scope_filter

COUNTER = "events"
NUMBERED_AT_A_TIME = 500
FED_AT_A_TIME = 500


class FedEvent(Struct, frozen=True):
    position: int
    """Grows over all runs of all projects; each event has its own."""
    project: str
    run_id: str
    number: int
    """Within its run."""
    at: datetime
    kind: str
    data: dict[str, Any]


def last_position(database: Database) -> int:
    """The place of the newest event that has one."""
    with database.at_scope(EVERYTHING).connection() as connection:
        row = connection.execute("SELECT next FROM id_blocks WHERE name = ?", [COUNTER]).fetchone()
    return 0 if row is None else int(row[0])


def number_events(database: Database) -> int:
    """Give every committed event without a place the next one; gives how many. Calling it from everywhere is harmless.

    A run's events keep their own order; those of different runs stand as they happened, as far as clocks agree.
    """
    count = 0
    with database.at_scope(EVERYTHING).connection() as connection:
        while connection.execute("SELECT 1 FROM events WHERE position IS NULL LIMIT 1").fetchone() is not None:
            with connection.transaction(is_short=True):
                numbered = _number_some(connection)
            count += numbered
            if numbered < NUMBERED_AT_A_TIME:
                break
    return count


def _number_some(connection: Connection) -> int:
    # The counter first: whoever else wants to number waits here, and sees then what was numbered.
    last = connection.execute(
        "INSERT INTO id_blocks (name, next) VALUES (?, 0) "
        "ON CONFLICT (name) DO UPDATE SET next = id_blocks.next RETURNING next",
        [COUNTER],
    ).fetchone()[0]
    rows = connection.execute(
        "SELECT run_id, number, at FROM events WHERE position IS NULL ORDER BY run_id, number LIMIT ?",
        [NUMBERED_AT_A_TIME],
    ).fetchall()
    if not rows:
        return 0
    latest: dict[str, str] = {}
    placed = []
    for run_id, number, at in map(tuple, rows):
        # A clock that was put back, or another machine's, does not change the order within a run.
        latest[run_id] = max(at, latest.get(run_id, ""))
        placed.append((latest[run_id], run_id, number))
    placed.sort()
    values = ", ".join("(CAST(? AS text), CAST(? AS bigint), CAST(? AS bigint))" for _ in placed)
    given = [value for place, (_, run_id, number) in enumerate(placed, last + 1) for value in (run_id, number, place)]
    connection.execute(
        f"WITH placed (run_id, number, position) AS (VALUES {values}) "  # noqa: S608 - placeholders only
        "UPDATE events SET position = placed.position FROM placed "
        "WHERE events.run_id = placed.run_id AND events.number = placed.number",
        given,
    )
    connection.execute("UPDATE id_blocks SET next = ? WHERE name = ?", [last + len(placed), COUNTER])
    return len(placed)


def fed_events(database: Database, after: int, limit: int = FED_AT_A_TIME) -> list[FedEvent]:
    """What may be seen of the events after this place, in their order."""
    scope = scope_filter(database)
    query = (
        "SELECT events.position, runs.project, events.run_id, events.number, events.at, events.kind, events.data "  # noqa: S608 - our own words
        f"FROM events JOIN runs ON runs.id = events.run_id WHERE events.position > ?{scope.sql} "
        "ORDER BY events.position LIMIT ?"
    )
    with database.connection() as connection:
        rows = connection.execute(query, [after, *scope.values, limit]).fetchall()
    return [
        FedEvent(row[0], row[1], row[2], row[3], datetime.fromisoformat(row[4]), row[5], orjson.loads(row[6]))
        for row in rows
    ]
