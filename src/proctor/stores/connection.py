"""Plain connections: what a run writes goes through one of these, in SQL that both databases understand.

Parameters are `?` on both. A row gives its columns by name and by place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from msgspec import Struct


class Row(Protocol):
    def __getitem__(self, column: str | int, /) -> Any: ...
    def __iter__(self) -> Iterator[Any]: ...
    def keys(self) -> Sequence[str]: ...


class Cursor(Protocol):
    @property
    def rowcount(self) -> int: ...
    def fetchone(self) -> Any: ...
    def fetchall(self) -> list[Any]: ...
    def __iter__(self) -> Iterator[Any]: ...


class Connection(Protocol):
    """Outside of `transaction` every statement is committed at once."""

    def execute(self, statement: str, parameters: Sequence[Any] = (), /) -> Cursor: ...

    def stream(self, statement: str, parameters: Sequence[Any] = (), /) -> Iterator[Row]:
        """The rows of a query, few of them in memory at a time."""
        ...

    def insert(
        self, table: str, columns: Sequence[str], rows: Sequence[tuple[Any, ...]], on_conflict: str = ""
    ) -> None:
        """Insert many rows in the driver's quickest way; within a transaction."""
        ...

    def transaction(self, *, is_short: bool = False) -> AbstractContextManager[None]:
        """All or nothing; other writers are waited for at its beginning where the database has one writer at a time.

        A short one is ended by the server when this process stands still in it: what it has locked is waited for.
        """
        ...

    def close(self) -> None: ...


class SqlDialect(Struct, frozen=True):
    """What differs between the databases in plain statements. SQLAlchemy's own differences are in `json_columns`."""

    name: str
    now: str
    """Seconds since 1970 by the database's clock: processes whose clocks differ agree on it."""
    for_update: str
    """After a SELECT: nobody else may change the row until the transaction ends."""
    for_share: str
    """After a SELECT: nobody may change the row until the transaction ends, but others may read it likewise."""
    skip_locked: str
    """After a SELECT: as `for_update`, and rows that somebody else is changing are passed over."""
    started: str
    """When the server began to run, by the same clock: leases could not be renewed while it was away."""


SQLITE = SqlDialect("sqlite", "((julianday('now') - 2440587.5) * 86400.0)", "", "", "", "0.0")
POSTGRESQL = SqlDialect(
    "postgresql",
    "extract(epoch from clock_timestamp())::double precision",
    "FOR UPDATE",
    "FOR SHARE",
    "FOR UPDATE SKIP LOCKED",
    "extract(epoch from pg_postmaster_start_time())::double precision",
)
