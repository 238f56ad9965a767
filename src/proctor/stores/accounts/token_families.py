"""Families of refresh tokens: each is used once and replaced by the next; one that is used twice ends its family."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import orjson
from msgspec import Struct

from proctor.domain.text import storable
from proctor.stores.codec import to_json
from proctor.stores.connection import Connection, Row
from proctor.stores.database import Database
from proctor.stores.moments import now_text


class TokenFamilyRow(Struct, frozen=True):
    id: str
    user_id: str
    project: str
    scopes: tuple[str, ...]
    created_at: float
    used_at: float
    expires_at: float
    address: str
    agent: str


class TokenFamilyStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    def begin(self, family: TokenFamilyRow, hashed: str) -> None:
        with self._database.connection() as connection, connection.transaction():
            connection.execute(
                "DELETE FROM refresh_tokens WHERE family_id IN (SELECT id FROM token_families WHERE expires_at < ?)",
                [family.created_at],
            )
            connection.execute("DELETE FROM token_families WHERE expires_at < ?", [family.created_at])
            connection.execute(
                "INSERT INTO projects (name, created_at) VALUES (?, ?) ON CONFLICT DO NOTHING",
                [family.project, now_text()],
            )
            connection.execute(
                "INSERT INTO token_families (id, user_id, project, scopes, created_at, used_at, expires_at, address, "
                "agent) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [family.id, family.user_id, family.project, to_json(list(family.scopes)), family.created_at,
                 family.used_at, family.expires_at, family.address, storable(family.agent[:200])],
            )  # fmt: skip
            connection.execute("INSERT INTO refresh_tokens (hash, family_id) VALUES (?, ?)", [hashed, family.id])

    def get(self, family_id: str) -> TokenFamilyRow | None:
        """None once it is over."""
        found = self._rows("id = ? AND expires_at > ?", family_id, time.time())
        return found[0] if found else None

    def of_user(self, user_id: str) -> list[TokenFamilyRow]:
        return self._rows("user_id = ? AND expires_at > ?", user_id, time.time())

    def exchange(self, hashed: str, next_hashed: str) -> tuple[TokenFamilyRow | None, bool]:
        """The token's family, which now has the next one; or None, and whether the token was used before.

        Of two who come with the same token at once, one gets the next and the other ends the family.
        """
        now = time.time()
        with self._database.connection() as connection, connection.transaction(is_short=True):
            changed = connection.execute(
                "UPDATE refresh_tokens SET used_at = ? WHERE hash = ? AND used_at IS NULL RETURNING family_id",
                [now, hashed],
            ).fetchone()
            if changed is None:
                row = connection.execute("SELECT family_id FROM refresh_tokens WHERE hash = ?", [hashed]).fetchone()
                if row is not None:
                    _end(connection, row[0])
                return None, row is not None
            rows = connection.execute(
                "UPDATE token_families SET used_at = ? WHERE id = ? AND expires_at > ? RETURNING *",
                [now, changed[0], now],
            ).fetchall()
            if not rows:
                return None, False
            values = [next_hashed, changed[0]]
            connection.execute("INSERT INTO refresh_tokens (hash, family_id) VALUES (?, ?)", values)
            return _family(rows[0]), False

    def end(self, family_id: str, user_id: str) -> bool:
        """False where the user has no such family."""
        with self._database.connection() as connection, connection.transaction(is_short=True):
            query = "SELECT 1 FROM token_families WHERE id = ? AND user_id = ?"
            if connection.execute(query, [family_id, user_id]).fetchone() is None:
                return False
            _end(connection, family_id)
        return True

    def _rows(self, which: str, *values: Any) -> list[TokenFamilyRow]:
        query = f"SELECT * FROM token_families WHERE {which} ORDER BY used_at DESC, id"  # noqa: S608 - our own words
        with self._database.connection() as connection:
            return [_family(row) for row in connection.execute(query, values).fetchall()]


def end_families_of(connection: Connection, user_id: str) -> None:
    """Within the transaction that changes what lets the user in."""
    connection.execute(
        "DELETE FROM refresh_tokens WHERE family_id IN (SELECT id FROM token_families WHERE user_id = ?)", [user_id]
    )
    connection.execute("DELETE FROM token_families WHERE user_id = ?", [user_id])


def _end(connection: Connection, family_id: str) -> None:
    connection.execute("DELETE FROM refresh_tokens WHERE family_id = ?", [family_id])
    connection.execute("DELETE FROM token_families WHERE id = ?", [family_id])


def _family(row: Row) -> TokenFamilyRow:
    scopes: Sequence[str] = orjson.loads(row["scopes"])
    return TokenFamilyRow(
        row["id"], row["user_id"], row["project"], tuple(scopes), row["created_at"], row["used_at"],
        row["expires_at"], row["address"], row["agent"],
    )  # fmt: skip
