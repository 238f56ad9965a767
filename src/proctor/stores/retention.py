"""What is old enough to go: runs that have ended, months of answers, artifacts that nothing refers to."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from msgspec import Struct

from proctor.domain.run import ENDED
from proctor.stores.connection import POSTGRESQL
from proctor.stores.database import Database
from proctor.stores.deleting import referred_artifacts

PARTITIONS = ("scores", "bodies", "responses")
"""Those of a month, each before what it refers to."""


class ExpiredRun(Struct, frozen=True):
    id: str
    name: str | None
    status: str
    finished_at: str
    responses: int


def expired_runs(database: Database, before: datetime) -> list[ExpiredRun]:
    """Runs that ended before the moment, the oldest first; one that is queued or running never expires."""
    query = (
        "SELECT runs.id, runs.name, runs.status, runs.finished_at, "  # noqa: S608 - only placeholders are put in
        "(SELECT count(*) FROM responses JOIN evaluations ON evaluations.id = responses.evaluation_id "
        "AND evaluations.month = responses.month WHERE evaluations.run_id = runs.id) AS responses "
        f"FROM runs WHERE status IN ({', '.join('?' * len(ENDED))}) AND finished_at < ? AND lease_owner IS NULL "
        "ORDER BY finished_at, id"
    )
    with database.connection() as connection:
        rows = connection.execute(query, [*ENDED, before.isoformat(timespec="microseconds")]).fetchall()
    return [ExpiredRun(*row) for row in rows]


def droppable_months(database: Database, run_ids: Collection[str], this_month: int) -> list[int]:
    """Earlier months all of whose runs are among these; none where months are not kept apart.

    Runs are created in this month only: no other one can get a new run.
    """
    if database.dialect is not POSTGRESQL:
        return []
    with database.connection() as connection:
        rows = connection.execute("SELECT DISTINCT month, run_id FROM evaluations").fetchall()
        kept = {row["month"] for row in rows if row["run_id"] not in run_ids}
        there = connection.execute(
            "SELECT relname FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid "
            "WHERE inhparent = to_regclass('responses')"
        ).fetchall()
    months = {int(row[0].rpartition("_")[2]) for row in there}
    return sorted(month for month in months - kept if month < this_month)


def drop_empty_month(database: Database, month: int) -> bool:
    """Drop a month's partitions; False where there is a run in it after all."""
    with database.connection() as connection, connection.transaction():
        if connection.execute("SELECT 1 FROM evaluations WHERE month = ? LIMIT 1", [month]).fetchone() is not None:
            return False
        for table in PARTITIONS:
            connection.execute(f"DROP TABLE IF EXISTS {table}_{month:d}")
    return True


def orphans(database: Database, keys: Collection[str]) -> list[str]:
    """Of these artifacts, those that nothing refers to."""
    return sorted(set(keys) - referred_artifacts(database))
