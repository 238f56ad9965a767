"""Whose turn it is: what is done for one project lets others go first, however many runs either has.

Moments are seconds by the database's clock. A project that waited long is not paid back: it is only the next.
"""

from __future__ import annotations

from proctor.stores.connection import Connection, SqlDialect

LEAST_SECONDS = 0.000_001
"""Turns given within one tick of the database's clock are counted all the same."""
SERVED_AT = "coalesce(project_turns.served_at, 0)"


def turns_of(table: str) -> str:
    """What joins a table with a `project` to the turns, for queries ordered by SERVED_AT."""
    return f"LEFT JOIN project_turns ON project_turns.project = {table}.project"


def give_turn(connection: Connection, dialect: SqlDialect, project: str, seconds: float = 0.0) -> None:
    """Something is done for the project now; it waits `seconds` longer for its next turn where others wait."""
    connection.execute(
        f"INSERT INTO project_turns (project, served_at) VALUES (?, {dialect.now} + ?) "  # noqa: S608 - our own words
        "ON CONFLICT (project) DO UPDATE SET served_at = CASE WHEN excluded.served_at > project_turns.served_at "
        "THEN excluded.served_at ELSE project_turns.served_at + ? END",
        [project, seconds, LEAST_SECONDS],
    )
