"""A plain connection to a database in a file."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from proctor.stores.connection import Row
from proctor.stores.statements import insert_statements

C = TypeVar("C", bound="SqliteConnection")


class SqliteConnection(sqlite3.Connection):
    """Implements Connection; the driver's own class, so that nothing stands between a run and its writes."""

    def stream(self, statement: str, parameters: Sequence[Any] = ()) -> Iterator[Row]:
        return self.execute(statement, parameters)  # a cursor reads the file while it is read

    def insert(
        self, table: str, columns: Sequence[str], rows: Sequence[tuple[Any, ...]], on_conflict: str = ""
    ) -> None:
        for statement, parameters in insert_statements(table, columns, rows, on_conflict):
            self.execute(statement, parameters)

    @contextmanager
    def transaction(self, *, is_short: bool = False) -> Iterator[None]:  # noqa: ARG002 - a file has no server
        # IMMEDIATE: wait for other writers at the start, where waiting is harmless, not at the first write.
        self.execute("BEGIN IMMEDIATE")
        try:
            yield
            self.execute("COMMIT")
        except BaseException:
            if self.in_transaction:
                self.execute("ROLLBACK")
            raise


def open_connection(path: Path, busy_seconds: float, factory: type[C]) -> C:
    """A connection that may go from thread to thread; `busy_seconds` is how long it waits for others' writes."""
    connection: C = sqlite3.connect(
        path, isolation_level=None, timeout=busy_seconds, check_same_thread=False, factory=factory
    )
    connection.row_factory = sqlite3.Row
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("PRAGMA foreign_keys=ON")
    return connection
