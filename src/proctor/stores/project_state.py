"""What tells whether something that was computed from a project's rows still holds: it differs after every change."""

from __future__ import annotations

from proctor.stores.database import Database
from proctor.stores.scoping import scope_filter


def results_state(database: Database) -> str:
    """Of runs and their scores: each run's events and leases are counted, and whoever changes either adds to them.

    Read from where results are read from: a replica that is behind is so with both.
    """
    mine = scope_filter(database)
    query = (
        "SELECT count(*), max(id), sum(last_event), sum(fence), max(finished_at) FROM runs "  # noqa: S608 - our own words
        f"WHERE 1 = 1{mine.sql}"
    )
    with database.connection(is_reading=True) as connection:
        return "|".join(map(str, connection.execute(query, mine.values).fetchone()))


def run_state(database: Database, run_id: str) -> str:
    """Of one run, likewise."""
    mine = scope_filter(database)
    query = f"SELECT status, last_event, fence, finished_at FROM runs WHERE id = ?{mine.sql}"  # noqa: S608 - our own words
    with database.connection(is_reading=True) as connection:
        return "|".join(map(str, connection.execute(query, [run_id, *mine.values]).fetchone() or ()))


def benchmarks_state(database: Database) -> str:
    """Of the project's own benchmarks."""
    mine = scope_filter(database, "own_benchmarks")
    query = f"SELECT count(*), max(id), sum(archived_at) FROM own_benchmarks WHERE 1 = 1{mine.sql}"  # noqa: S608
    with database.connection(is_reading=True) as connection:
        return "|".join(map(str, connection.execute(query, mine.values).fetchone()))
