"""Removes a run or a submission, and of what they share only what no other refers to."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager

from msgspec import Struct

from proctor.stores.database import Database, explained

_KEY = re.compile(r"(?<![0-9a-f])[0-9a-f]{40}(?![0-9a-f])")
_EVALUATIONS = "SELECT id FROM evaluations WHERE run_id = :run"
_RESPONSES = f"SELECT id FROM responses WHERE evaluation_id IN ({_EVALUATIONS})"  # noqa: S608 - our own
_BATCHES = f"SELECT id FROM batches WHERE evaluation_id IN ({_EVALUATIONS})"  # noqa: S608 - our own
_ROWS = (
    ("scores", f"response_id IN ({_RESPONSES})"),
    ("bodies", f"response_id IN ({_RESPONSES})"),
    ("responses", f"evaluation_id IN ({_EVALUATIONS})"),
    ("batch_trials", f"batch_id IN ({_BATCHES})"),
    ("batches", f"evaluation_id IN ({_EVALUATIONS})"),
    ("events", "run_id = :run"),
    ("evaluations", "run_id = :run"),
    ("runs", "id = :run"),
)
"""What belongs to a run alone; a row comes before those it refers to."""


class DeletedRows(Struct, frozen=True):
    responses: int
    samples: int
    """Of those only that no other run has put to a model."""
    artifacts: frozenset[str]
    """Keys that nothing else refers to."""


def delete_rows(database: Database, run_id: str) -> DeletedRows:
    """All or nothing, in one transaction."""
    with _transaction(database) as connection:
        return _delete(connection, {"run": run_id})


def delete_submission_row(database: Database, submission_id: str) -> frozenset[str]:
    """Remove a submission; gives the keys of artifacts that it alone referred to."""
    with _transaction(database) as connection:
        mine = _keys(connection.execute("SELECT details FROM submissions WHERE id = ?", [submission_id]))
        connection.execute("DELETE FROM submissions WHERE id = ?", [submission_id])
        return mine - _referred(connection)


@contextmanager
def _transaction(database: Database) -> Iterator[sqlite3.Connection]:
    with explained(database.path), closing(database.connect()) as connection:
        # Each row is named here. Were they enforced, every sample would be looked for in all responses.
        connection.execute("PRAGMA foreign_keys=OFF")
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield connection
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise


def artifacts_in(database: Database, run_id: str) -> frozenset[str]:
    """The keys that a run's scores refer to; anything that could be one."""
    with explained(database.path), closing(database.connect()) as connection:
        return _keys(connection.execute(f"SELECT details FROM scores WHERE response_id IN ({_RESPONSES})", [run_id]))  # noqa: S608


def referring_runs(database: Database, run_id: str) -> list[str]:
    """Other runs whose plan names this one, to replay it or to be compared with it."""
    query = "SELECT id FROM runs WHERE id != :run AND instr(plan, :run) > 0 ORDER BY created_at"
    with explained(database.path), closing(database.connect()) as connection:
        return [row[0] for row in connection.execute(query, {"run": run_id})]


def _delete(connection: sqlite3.Connection, run: dict[str, str]) -> DeletedRows:
    connection.execute(
        f"CREATE TEMP TABLE put AS SELECT DISTINCT sample_digest FROM responses WHERE id IN ({_RESPONSES})",  # noqa: S608
        run,
    )
    mine = _keys(connection.execute(f"SELECT details FROM scores WHERE response_id IN ({_RESPONSES})", run))  # noqa: S608
    counts = {table: connection.execute(f"DELETE FROM {table} WHERE {which}", run).rowcount for table, which in _ROWS}  # noqa: S608
    samples = connection.execute(
        "DELETE FROM samples WHERE digest IN (SELECT sample_digest FROM put) "
        "AND digest NOT IN (SELECT sample_digest FROM responses)"
    ).rowcount
    connection.execute("DROP TABLE put")
    others = _referred(connection) if mine else frozenset()
    return DeletedRows(counts["responses"], samples, mine - others)


def _referred(connection: sqlite3.Connection) -> frozenset[str]:
    """The keys of every artifact that something still refers to."""
    details = "SELECT details FROM scores WHERE details IS NOT NULL UNION ALL SELECT details FROM submissions"
    return _keys(connection.execute(details))


def _keys(rows: Iterable[tuple[str | None]]) -> frozenset[str]:
    return frozenset(key for (text,) in rows if text for key in _KEY.findall(text))
