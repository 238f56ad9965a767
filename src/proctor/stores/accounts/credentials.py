"""Sessions, one-time links and API keys: found by the hash of what only their owner has."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import orjson
from msgspec import Struct

from proctor.domain.errors import NotFoundError
from proctor.domain.text import storable
from proctor.stores.accounts.users import UserRow, UserStore
from proctor.stores.codec import to_json
from proctor.stores.connection import Row
from proctor.stores.database import Database
from proctor.stores.moments import now_text

SEEN_SECONDS = 60
"""How exact the time of the last use is: a write for every request would be a high price for it."""


class SessionRow(Struct, frozen=True):
    hash: str
    user: UserRow
    created_at: float
    seen_at: float
    address: str
    agent: str


class KeyRow(Struct, frozen=True):
    id: str
    hash: str
    name: str
    project: str
    user_id: str | None
    scopes: tuple[str, ...]
    created_at: float
    expires_at: float | None
    last_used_at: float | None
    revoked_at: float | None

    def is_valid(self, now: float) -> bool:
        return self.revoked_at is None and (self.expires_at is None or self.expires_at > now)


class CredentialStore:
    def __init__(self, database: Database) -> None:
        self._database, self._users = database, UserStore(database)

    # Sessions

    def begin_session(self, hashed: str, user_id: str, seconds: float, address: str, agent: str) -> None:
        now = time.time()
        self._do(
            "INSERT INTO sessions (hash, user_id, created_at, seen_at, expires_at, address, agent) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            hashed, user_id, now, now, now + seconds, address, storable(agent[:200]),
        )  # fmt: skip
        self._do("DELETE FROM sessions WHERE expires_at < ?", now)

    def session(self, hashed: str) -> SessionRow | None:
        """The session, where it is not over and its user may sign in."""
        now = time.time()
        rows = self._rows("SELECT * FROM sessions WHERE hash = ? AND expires_at > ?", hashed, now)
        user = self._users.get(rows[0]["user_id"]) if rows else None
        if user is None or user.disabled_at is not None:
            return None
        if rows[0]["seen_at"] < now - SEEN_SECONDS:
            self._do("UPDATE sessions SET seen_at = ? WHERE hash = ?", now, hashed)
        return _session(rows[0], user)

    def sessions_of(self, user: UserRow) -> list[SessionRow]:
        query = "SELECT * FROM sessions WHERE user_id = ? AND expires_at > ? ORDER BY seen_at DESC"
        return [_session(row, user) for row in self._rows(query, user.id, time.time())]

    def end_session(self, hashed: str, user_id: str) -> bool:
        return self._do("DELETE FROM sessions WHERE hash = ? AND user_id = ?", hashed, user_id) > 0

    # One-time links

    def add_link(self, hashed: str, user_id: str, seconds: float) -> None:
        """A link that was made for the user before is no longer good."""
        now = time.time()
        self._do("DELETE FROM links WHERE user_id = ?", user_id)
        self._do(
            "INSERT INTO links (hash, user_id, created_at, expires_at) VALUES (?, ?, ?, ?)",
            hashed, user_id, now, now + seconds,
        )  # fmt: skip

    def is_link(self, hashed: str) -> bool:
        """Whether it can still be used."""
        query = "SELECT 1 FROM links WHERE hash = ? AND used_at IS NULL AND expires_at > ?"
        return bool(self._rows(query, hashed, time.time()))

    def use_link(self, hashed: str) -> UserRow | None:
        """The user it is for, once: of two who come at the same time, one."""
        now = time.time()
        with self._database.connection() as connection:
            row = connection.execute(
                "UPDATE links SET used_at = ? WHERE hash = ? AND used_at IS NULL AND expires_at > ? RETURNING user_id",
                [now, hashed, now],
            ).fetchone()
        user = None if row is None else self._users.get(row[0])
        return None if user is None or user.disabled_at is not None else user

    # API keys

    def add_key(self, key: KeyRow) -> None:
        self._do(
            "INSERT INTO projects (name, created_at) VALUES (?, ?) ON CONFLICT DO NOTHING", key.project, now_text()
        )
        self._do(
            "INSERT INTO api_keys (id, hash, name, project, user_id, scopes, created_at, expires_at) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            key.id, key.hash, storable(key.name), key.project, key.user_id, to_json(list(key.scopes)),
            key.created_at, key.expires_at,
        )  # fmt: skip

    def key(self, key_id: str) -> KeyRow | None:
        rows = self._rows("SELECT * FROM api_keys WHERE id = ?", key_id)
        return _key(rows[0]) if rows else None

    def note_use(self, key: KeyRow) -> None:
        now = time.time()
        if key.last_used_at is None or key.last_used_at < now - SEEN_SECONDS:
            self._do("UPDATE api_keys SET last_used_at = ? WHERE id = ?", now, key.id)

    def keys(self, project: str | None = None) -> list[KeyRow]:
        which, values = ("", ()) if project is None else ("WHERE project = ?", (project,))
        query = f"SELECT * FROM api_keys {which} ORDER BY created_at, id"  # noqa: S608 - our own words
        return [_key(row) for row in self._rows(query, *values)]

    def revoke_key(self, key_id: str, project: str | None = None) -> KeyRow:
        """Raises NotFoundError for the key of another project, as for one that there is not."""
        found = self.key(key_id)
        if found is None or project not in (None, found.project):
            raise NotFoundError(f"No key {key_id!r}. 'proctor keys list' lists them.")
        query = "UPDATE api_keys SET revoked_at = coalesce(revoked_at, ?) WHERE id = ?"
        self._do(query, time.time(), key_id)
        return found

    def _do(self, statement: str, *values: Any) -> int:
        with self._database.connection() as connection:
            return connection.execute(statement, values).rowcount

    def _rows(self, query: str, *values: Any) -> Sequence[Row]:
        with self._database.connection() as connection:
            return connection.execute(query, values).fetchall()


def _session(row: Row, user: UserRow) -> SessionRow:
    return SessionRow(row["hash"], user, row["created_at"], row["seen_at"], row["address"], row["agent"])


def _key(row: Row) -> KeyRow:
    return KeyRow(
        row["id"], row["hash"], row["name"], row["project"], row["user_id"], tuple(orjson.loads(row["scopes"])),
        row["created_at"], row["expires_at"], row["last_used_at"], row["revoked_at"],
    )  # fmt: skip
