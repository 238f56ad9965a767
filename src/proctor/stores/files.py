"""Files that people uploaded, and the runs that use them. What has expired and no run uses is not there any more."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct

from proctor.domain.errors import NotFoundError, RunError
from proctor.domain.text import storable
from proctor.stores.connection import Connection, Row
from proctor.stores.database import Database
from proctor.stores.saved_plans import new_ordered_id
from proctor.stores.scoping import check_run, scope_filter
from proctor.stores.statements import places
from proctor.stores.stored_bytes import refuse_full_storage

PREFIX = "f-"
DELETED_AT_ONCE = 500
MADE = ("export", "report")
_COLUMNS = (
    "id, name, kind, media_type, size_bytes, artifact, text_artifact, pages, width, height, author, created_at, "
    "expires_at"
)
_USED = "(kind NOT IN ('export', 'report') AND EXISTS (SELECT 1 FROM file_uses WHERE file_uses.file_id = files.id))"
"""What was made of a run goes with it, but is not needed by it."""


class NewFile(Struct, frozen=True, kw_only=True):
    """What is known of a file before it is kept."""

    name: str
    kind: str
    media_type: str
    size_bytes: int
    artifact: str
    text_artifact: str | None = None
    pages: int | None = None
    width: int | None = None
    height: int | None = None
    author: str
    kept_seconds: float


class FileRow(Struct, frozen=True):
    id: str
    name: str
    kind: str
    media_type: str
    size_bytes: int
    artifact: str
    text_artifact: str | None
    pages: int | None
    width: int | None
    height: int | None
    author: str
    created_at: float
    expires_at: float


class FileStore:
    """A file that there is not, that has expired, or that is another project's raises NotFoundError."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, file: NewFile, check: Callable[[], None]) -> FileRow:
        """Keep the row; `check` raises where an artifact has just been deleted, and then nothing is kept.

        Nobody deletes artifacts of files between that look and the end of the transaction.
        """
        now = time.time()
        row = FileRow(
            new_ordered_id(PREFIX), storable(file.name), file.kind, file.media_type, file.size_bytes, file.artifact,
            file.text_artifact, file.pages, file.width, file.height, file.author, now, now + file.kept_seconds,
        )  # fmt: skip
        values = [getattr(row, name) for name in FileRow.__struct_fields__]
        with self._database.connection() as connection, connection.transaction():
            refuse_full_storage(connection, self._database.dialect, self._database.scope.owner, file.size_bytes)
            connection.execute(
                f"INSERT INTO files ({_COLUMNS}, project) VALUES ({places(len(values) + 1)})",  # noqa: S608 - our own
                [*values, self._database.scope.owner],
            )
            check()
        return row

    def get(self, file_id: str) -> FileRow:
        return self.some([file_id])[0]

    def some(self, file_ids: Sequence[str]) -> list[FileRow]:
        """These files, in this order."""
        scope = scope_filter(self._database, "files")
        query = (
            f"SELECT {_COLUMNS} FROM files WHERE id IN ({places(len(file_ids))}) "  # noqa: S608 - our own words
            f"AND (expires_at > ? OR {_USED}){scope.sql}"
        )
        with self._database.connection() as connection:
            rows = connection.execute(query, [*file_ids, time.time(), *scope.values]).fetchall()
        found = {row["id"]: _file_row(row) for row in rows}
        for file_id in file_ids:
            if file_id not in found:
                raise NotFoundError(f"No file {file_id!r}.")
        return [found[file_id] for file_id in file_ids]

    def listed(self, *, after: str | None = None, limit: int = 50, kind: str | None = None) -> list[FileRow]:
        """Newest first; `after` is the last one seen."""
        scope = scope_filter(self._database, "files")
        given = [("id < ?", after), ("kind = ?", kind)]
        where = "".join(f" AND {sql}" for sql, value in given if value is not None)
        query = (
            f"SELECT {_COLUMNS} FROM files WHERE (expires_at > ? OR {_USED}){scope.sql}{where} "  # noqa: S608 - ours
            "ORDER BY id DESC LIMIT ?"
        )
        values = [value for _, value in given if value is not None]
        with self._database.connection() as connection:
            rows = connection.execute(query, [time.time(), *scope.values, *values, limit]).fetchall()
        return [_file_row(row) for row in rows]

    def uses(self, file_ids: Iterable[str]) -> Mapping[str, list[str]]:
        """The runs that use each of these files."""
        ids = list(file_ids)
        scope = scope_filter(self._database, "file_uses")
        query = (
            f"SELECT file_id, run_id FROM file_uses WHERE file_id IN ({places(len(ids))}){scope.sql} "  # noqa: S608
            "ORDER BY run_id"
        )
        found: dict[str, list[str]] = {}
        with self._database.connection() as connection:
            for row in connection.execute(query, [*ids, *scope.values]):
                found.setdefault(row["file_id"], []).append(row["run_id"])
        return found

    def use(self, file_ids: Sequence[str], run_id: str) -> None:
        """The run uses these files: they stay as long as it does. Calling it twice is harmless."""
        check_run(self._database, run_id)
        self.some(file_ids)
        with self._database.connection() as connection, connection.transaction():
            add_uses(connection, self._database.scope.owner, file_ids, run_id)

    def delete(self, file_id: str) -> frozenset[str]:
        """Gives the keys of its artifacts, which others may refer to as well; RunError while a run uses it."""
        row = self.get(file_id)
        runs = self.uses([row.id]).get(row.id)
        if runs and row.kind not in MADE:
            raise RunError(f"{', '.join(runs)} uses the file {row.name}: it goes with the run.")
        scope = scope_filter(self._database, "files")
        with self._database.connection() as connection, connection.transaction():
            if row.kind in MADE:
                connection.execute("DELETE FROM file_uses WHERE file_id = ?", [row.id])
            connection.execute(
                f"DELETE FROM files WHERE id = ? AND NOT {_USED}{scope.sql}",  # noqa: S608 - our own words
                [row.id, *scope.values],
            )
        return artifacts_of(row)

    def delete_expired(self) -> list[FileRow]:
        """Some of those that have expired and that no run uses; they are gone."""
        scope = scope_filter(self._database, "files")
        with self._database.connection() as connection, connection.transaction():
            query = f"SELECT {_COLUMNS} FROM files WHERE expires_at <= ? AND NOT {_USED}{scope.sql} LIMIT ?"  # noqa: S608
            rows = connection.execute(query, [time.time(), *scope.values, DELETED_AT_ONCE]).fetchall()
            found = [_file_row(row) for row in rows]
            made = [row.id for row in found if row.kind in MADE]
            connection.execute(f"DELETE FROM file_uses WHERE file_id IN ({places(len(made))})", made)  # noqa: S608
            connection.execute(
                f"DELETE FROM files WHERE id IN ({places(len(found))}) AND NOT {_USED}",  # noqa: S608 - our own words
                [row.id for row in found],
            )
        return found


def add_uses(connection: Connection, project: str, file_ids: Iterable[str], run_id: str) -> None:
    """Within the transaction of whoever writes the run."""
    for file_id in sorted(set(file_ids)):
        connection.execute(
            "INSERT INTO file_uses (run_id, file_id, project) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            [run_id, file_id, project],
        )


def artifacts_of(row: FileRow) -> frozenset[str]:
    return frozenset({row.artifact, *([row.text_artifact] if row.text_artifact else [])})


def _file_row(row: Row) -> FileRow:
    return FileRow(*(row[name] for name in FileRow.__struct_fields__))
