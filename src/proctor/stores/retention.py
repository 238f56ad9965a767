"""What is old enough to go: runs that have ended, asks, programs, answers of judges, months, artifacts without owner.

A project says for each kind how many days it is kept; what it says nothing of is kept as long as the operator says.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

import orjson
from msgspec import Struct

from proctor.domain.run import ENDED
from proctor.domain.scope import EVERYTHING, LOCAL
from proctor.stores.accounts.budgets import ANSWERED_SECONDS
from proctor.stores.connection import POSTGRESQL
from proctor.stores.database import Database
from proctor.stores.deleting import referred_artifacts
from proctor.stores.moments import now_text
from proctor.stores.scoping import scope_filter

PARTITIONS = ("scores", "bodies", "responses")
"""Those of a month, each before what it refers to."""


RUNS, ASKS, SUBMISSIONS, CACHE = KINDS = ("runs", "asks", "submissions", "cache")
"""What a project can say a time for."""
Rules = Mapping[str, float | None]
"""Kind -> days; None keeps it."""


def read_rules(database: Database) -> dict[str, Rules]:
    """What each project says; one that says nothing has no rule."""
    with database.at_scope(EVERYTHING).connection() as connection:
        rows = connection.execute("SELECT name, retention FROM projects").fetchall()
    found: dict[str, Rules] = {name: {} if text is None else orjson.loads(text) for name, text in rows}
    return {LOCAL: {}} | found


def write_rules(database: Database, project: str, rules: Rules) -> None:
    with database.connection() as connection, connection.transaction():
        query = "INSERT INTO projects (name, created_at) VALUES (?, ?) ON CONFLICT DO NOTHING"
        connection.execute(query, [project, now_text()])
        text = orjson.dumps(rules).decode() if rules else None
        connection.execute("UPDATE projects SET retention = ? WHERE name = ?", [text, project])


class ExpiredRun(Struct, frozen=True):
    id: str
    project: str
    name: str | None
    status: str
    finished_at: str
    responses: int


def expired_runs(database: Database, before: datetime) -> list[ExpiredRun]:
    """Runs that ended before the moment, the oldest first; one that is queued or running never expires."""
    scope = scope_filter(database)
    query = (
        "SELECT runs.id, runs.project, runs.name, runs.status, runs.finished_at, "  # noqa: S608 - only placeholders are put in
        "(SELECT count(*) FROM responses JOIN evaluations ON evaluations.id = responses.evaluation_id "
        "AND evaluations.month = responses.month WHERE evaluations.run_id = runs.id) AS responses "
        f"FROM runs WHERE status IN ({', '.join('?' * len(ENDED))}) AND finished_at < ? AND lease_owner IS NULL"
        f"{scope.sql} ORDER BY finished_at, id"
    )
    with database.connection() as connection:
        values = [*ENDED, before.isoformat(timespec="microseconds"), *scope.values]
        rows = connection.execute(query, values).fetchall()
    return [ExpiredRun(*row) for row in rows]


def expired_submissions(database: Database, before: datetime) -> list[str]:
    """Programs that were marked before the moment."""
    scope = scope_filter(database, "submissions")
    query = f"SELECT id FROM submissions WHERE created_at < ?{scope.sql} ORDER BY created_at, id"  # noqa: S608
    with database.connection() as connection:
        rows = connection.execute(query, [before.isoformat(timespec="microseconds"), *scope.values]).fetchall()
    return [row[0] for row in rows]


def expire_asks(database: Database, before: datetime, *, is_dry_run: bool) -> int:
    """Asks side by side from before the moment, with answers, files and votes; not while one is being answered."""
    scope = scope_filter(database, "playground_asks")
    is_open = (
        "SELECT 1 FROM playground_answers WHERE ask_id = id AND state IN ('waiting', 'streaming') "  # noqa: S608 - ours
        f"AND beat_at > {database.dialect.now} - {ANSWERED_SECONDS}"  # else it was lost with its process
    )
    which = f"created_at < ? AND NOT EXISTS ({is_open}){scope.sql}"
    values = [before.isoformat(timespec="microseconds"), *scope.values]
    return _expire(database, "playground_asks", which, values, is_dry_run=is_dry_run)


def expire_cache(database: Database, before: datetime, *, is_dry_run: bool) -> int:
    """Answers that are kept for judges, from before the moment."""
    scope = scope_filter(database, "cache")
    values = [before.timestamp(), *scope.values]
    return _expire(database, "cache", f"created_at < ?{scope.sql}", values, is_dry_run=is_dry_run)


def _expire(database: Database, table: str, which: str, values: list[Any], *, is_dry_run: bool) -> int:
    with database.connection() as connection, connection.transaction():
        if is_dry_run:
            found = connection.execute(f"SELECT count(*) FROM {table} WHERE {which}", values).fetchone()  # noqa: S608
            return int(found[0])
        return connection.execute(f"DELETE FROM {table} WHERE {which}", values).rowcount  # noqa: S608


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
