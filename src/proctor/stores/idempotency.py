"""Requests that may be sent again: the first answer is given for a day, however often the key comes back."""

from __future__ import annotations

import time

from msgspec import Struct

from proctor.domain.errors import UserError
from proctor.stores.connection import Connection, Row
from proctor.stores.database import Database

KEPT_SECONDS = 86_400.0


class RequestKey(Struct, frozen=True):
    """What a client called its request, and the digest of what it sent."""

    key: str
    digest: str


class ReusedKeyError(UserError):
    """An idempotency key that came with another request before."""

    def __init__(self, key: str) -> None:
        super().__init__(f"The key {key!r} was used for another request. Send each request with a key of its own.")


class IdempotencyStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    def find(self, request: RequestKey) -> str | None:
        """The run that this request made; raises ReusedKeyError where another request was sent with its key."""
        query = "SELECT digest, run_id FROM idempotency_keys WHERE project = ? AND key = ? AND created_at > ?"
        owner = self._database.scope.owner
        with self._database.connection() as connection:
            row = connection.execute(query, [owner, request.key, time.time() - KEPT_SECONDS]).fetchone()
        return None if row is None else _run_of(row, request)


def reserve(connection: Connection, project: str, request: RequestKey, run_id: str) -> str:
    """Within the transaction that writes the run: its id, or that of the request that was there first."""
    now, mine = time.time(), [project, request.key]
    connection.execute("DELETE FROM idempotency_keys WHERE created_at <= ?", [now - KEPT_SECONDS])
    # Of two at once, the second waits here until the first has committed.
    added = connection.execute(
        "INSERT INTO idempotency_keys (project, key, digest, run_id, created_at) VALUES (?, ?, ?, ?, ?) "
        "ON CONFLICT DO NOTHING",
        [*mine, request.digest, run_id, now],
    ).rowcount
    if added:
        return run_id
    query = "SELECT digest, run_id FROM idempotency_keys WHERE project = ? AND key = ?"
    return _run_of(connection.execute(query, mine).fetchone(), request)


def _run_of(row: Row, request: RequestKey) -> str:
    if row["digest"] != request.digest:
        raise ReusedKeyError(request.key)
    return str(row["run_id"])
