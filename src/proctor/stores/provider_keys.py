"""Connections of projects to providers: to which address which key goes. The key is sealed before it comes here."""

from __future__ import annotations

import secrets

from msgspec import Struct

from proctor.domain.errors import NotFoundError
from proctor.stores.connection import Row
from proctor.stores.database import Database
from proctor.stores.moments import now_text
from proctor.stores.scoping import scope_filter

PREFIX = "c-"


class ProviderKeyRow(Struct, frozen=True):
    id: str
    project: str
    provider: str
    origin: str
    """Scheme, host and port: the key goes nowhere else."""
    base_url: str
    sealed: str | None
    """None where the server at that address wants no key."""
    author: str
    created_at: str


class ProviderKeyStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, provider: str, origin: str, base_url: str, sealed: str | None, author: str) -> ProviderKeyRow:
        """Add a connection of the project, or replace the one to the same address."""
        project, now = self._database.scope.owner, now_text()
        with self._database.connection() as connection:
            row = connection.execute(
                "INSERT INTO provider_keys (id, project, provider, origin, base_url, sealed, author, created_at) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (project, provider, origin) DO UPDATE SET "
                "base_url = excluded.base_url, sealed = excluded.sealed, author = excluded.author, "
                "created_at = excluded.created_at RETURNING *",
                [f"{PREFIX}{secrets.token_hex(6)}", project, provider, origin, base_url, sealed, author, now],
            ).fetchone()
        return _row(row)

    def of_project(self) -> list[ProviderKeyRow]:
        """The project's own; without a scope those of the project `local`."""
        query = "SELECT * FROM provider_keys WHERE project = ? ORDER BY provider, origin"
        with self._database.connection() as connection:
            return [_row(row) for row in connection.execute(query, [self._database.scope.owner]).fetchall()]

    def of_all(self) -> list[ProviderKeyRow]:
        """Of every project that may be seen."""
        scope = scope_filter(self._database, "provider_keys")
        query = f"SELECT * FROM provider_keys WHERE 1 = 1{scope.sql} ORDER BY project, provider, origin"  # noqa: S608
        with self._database.connection() as connection:
            return [_row(row) for row in connection.execute(query, scope.values).fetchall()]

    def remove(self, connection_id: str) -> ProviderKeyRow:
        """Raises NotFoundError for another project's as for one that there is not."""
        scope = scope_filter(self._database, "provider_keys")
        with self._database.connection() as connection:
            row = connection.execute(
                f"DELETE FROM provider_keys WHERE id = ?{scope.sql} RETURNING *",  # noqa: S608 - our own words
                [connection_id, *scope.values],
            ).fetchone()
        if row is None:
            raise NotFoundError(f"No connection {connection_id!r}. 'proctor provider-keys list' lists them.")
        return _row(row)


def _row(row: Row) -> ProviderKeyRow:
    return ProviderKeyRow(*(row[name] for name in ProviderKeyRow.__struct_fields__))
