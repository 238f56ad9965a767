"""Benchmarks of a project's own: every version that was uploaded stays readable, and none is ever changed."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import orjson
from msgspec import Struct

from proctor.domain.errors import NotFoundError
from proctor.stores.connection import POSTGRESQL, Connection, Row
from proctor.stores.database import Database
from proctor.stores.saved_plans import new_ordered_id
from proctor.stores.scoping import scope_filter
from proctor.stores.statements import places
from proctor.stores.stored_bytes import refuse_full_storage

PREFIX = "b-"
_COLUMNS = "id, name, version, entry, files, description, author, created_at, archived_at"


class NewBenchmark(Struct, frozen=True, kw_only=True):
    name: str
    version: str
    entry: str
    """Which of the files says how to ask and to score."""
    files: Mapping[str, str]
    """Path -> artifact."""
    size_bytes: int
    """Of all its files."""
    description: Mapping[str, Any]
    author: str


class OwnBenchmarkRow(Struct, frozen=True):
    id: str
    name: str
    version: str
    entry: str
    files: Mapping[str, str]
    description: Mapping[str, Any]
    author: str
    created_at: float
    archived_at: float | None


class OwnBenchmarkStore:
    """What there is not, and what is another project's, raises NotFoundError."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, new: NewBenchmark, check: Callable[[], None]) -> OwnBenchmarkRow:
        """Keep a version; the one that is there already where there is one. `check` raises where a file is gone.

        Raises BudgetError where the project may not keep so much more.
        """
        with self._database.connection() as connection, connection.transaction():
            if self._database.dialect is POSTGRESQL:
                connection.execute("LOCK TABLE files IN ROW EXCLUSIVE MODE")  # nobody deletes artifacts meanwhile
            self._refuse_full(connection, new)
            connection.execute(
                f"INSERT INTO own_benchmarks ({_COLUMNS}, size_bytes, project) VALUES ({places(11)}) "  # noqa: S608
                "ON CONFLICT (project, name, version) DO NOTHING",
                [
                    new_ordered_id(PREFIX), new.name, new.version, new.entry, orjson.dumps(dict(new.files)).decode(),
                    orjson.dumps(dict(new.description)).decode(), new.author, time.time(), None,
                    new.size_bytes, self._database.scope.owner,
                ],
            )  # fmt: skip
            check()
        return self.get(new.name, new.version)

    def _refuse_full(self, connection: Connection, new: NewBenchmark) -> None:
        """A version that is there already takes nothing."""
        owner = self._database.scope.owner
        query = "SELECT 1 FROM own_benchmarks WHERE project = ? AND name = ? AND version = ?"
        if connection.execute(query, [owner, new.name, new.version]).fetchone() is None:
            refuse_full_storage(connection, self._database.dialect, owner, new.size_bytes)

    def find(self, name: str, version: str | None = None) -> OwnBenchmarkRow | None:
        """This version, or the newest that is not archived; None where there is none."""
        mine = scope_filter(self._database, "own_benchmarks")
        which, values = ("version = ?", [version]) if version is not None else ("archived_at IS NULL", [])
        query = (
            f"SELECT {_COLUMNS} FROM own_benchmarks WHERE name = ? AND {which}{mine.sql} "  # noqa: S608 - our own words
            "ORDER BY id DESC LIMIT 1"
        )
        with self._database.connection() as connection:
            row = connection.execute(query, [name, *values, *mine.values]).fetchone()
        return None if row is None else _row(row)

    def get(self, name: str, version: str | None = None) -> OwnBenchmarkRow:
        """This version; without one the newest that is not archived, or else the newest."""
        found = self.find(name, version)
        if found is not None:
            return found
        others = self.versions(name)
        if version is None and others:
            return others[0]
        if not others:
            raise NotFoundError(f"The project has no benchmark {name!r} of its own.")
        there = ", ".join(sorted(one.version for one in others))
        raise NotFoundError(f"There is no version {version!r} of the benchmark {name!r}. There are: {there}.")

    def versions(self, name: str) -> list[OwnBenchmarkRow]:
        """Newest first."""
        mine = scope_filter(self._database, "own_benchmarks")
        query = f"SELECT {_COLUMNS} FROM own_benchmarks WHERE name = ?{mine.sql} ORDER BY id DESC"  # noqa: S608 - ours
        with self._database.connection() as connection:
            return [_row(row) for row in connection.execute(query, [name, *mine.values])]

    def listed(self, *, after: str | None = None, limit: int = 50, has_archived: bool = False) -> list[OwnBenchmarkRow]:
        """Every version, newest first; `after` is the id of the last one seen."""
        mine = scope_filter(self._database, "own_benchmarks")
        older, values = ("", []) if after is None else (" AND id < ?", [after])
        state = "" if has_archived else " AND archived_at IS NULL"
        query = (
            f"SELECT {_COLUMNS} FROM own_benchmarks WHERE 1 = 1{mine.sql}{older}{state} "  # noqa: S608 - our own words
            "ORDER BY id DESC LIMIT ?"
        )
        with self._database.connection() as connection:
            return [_row(row) for row in connection.execute(query, [*mine.values, *values, limit])]

    def offered(self) -> list[OwnBenchmarkRow]:
        """The newest version of each that is not archived, by name."""
        mine = scope_filter(self._database, "mine")
        query = (
            f"SELECT {_COLUMNS} FROM own_benchmarks AS mine WHERE archived_at IS NULL{mine.sql} "  # noqa: S608 - our own
            "AND NOT EXISTS (SELECT 1 FROM own_benchmarks AS newer WHERE newer.project = mine.project "
            "AND newer.name = mine.name AND newer.archived_at IS NULL AND newer.id > mine.id) ORDER BY name, project"
        )
        with self._database.connection() as connection:
            return [_row(row) for row in connection.execute(query, list(mine.values))]

    def remove(self, name: str, version: str | None) -> frozenset[str]:
        """Delete this version, or all of them; gives the artifacts that it referred to, as others may."""
        if version is None:
            self.get(name)
        rows = self.versions(name) if version is None else [self.get(name, version)]
        mine = scope_filter(self._database, "own_benchmarks")
        with self._database.connection() as connection, connection.transaction():
            for row in rows:
                connection.execute(
                    f"DELETE FROM own_benchmarks WHERE id = ?{mine.sql}",  # noqa: S608 - our own words
                    [row.id, *mine.values],
                )
        return frozenset(key for row in rows for key in row.files.values())

    def archive(self, name: str, version: str, *, is_archived: bool) -> OwnBenchmarkRow:
        """It is offered no more, or again; who names its version still gets it."""
        found, mine = self.get(name, version), scope_filter(self._database, "own_benchmarks")
        moment = time.time() if is_archived else None
        with self._database.connection() as connection:
            connection.execute(
                f"UPDATE own_benchmarks SET archived_at = ? WHERE id = ?{mine.sql}",  # noqa: S608 - our own words
                [moment, found.id, *mine.values],
            )
        return self.get(name, version)


def _row(row: Row) -> OwnBenchmarkRow:
    return OwnBenchmarkRow(
        row["id"], row["name"], row["version"], row["entry"], orjson.loads(row["files"]),
        orjson.loads(row["description"]), row["author"], row["created_at"], row["archived_at"],
    )  # fmt: skip
