"""The database that results are kept in: SQLite in a file, or PostgreSQL on a server."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from proctor.domain.errors import UserError
from proctor.domain.measuring import measure
from proctor.domain.scope import EVERYTHING, Scope
from proctor.stores.connection import Connection, Row, SqlDialect
from proctor.stores.upgrade import HEAD

if TYPE_CHECKING:
    import sqlalchemy
    from sqlalchemy import Engine

ROWS_AT_A_TIME = 1_000


class NewerDatabaseError(UserError):
    """The database was written by a newer version of Proctor."""

    def __init__(self, label: str, version: str) -> None:
        super().__init__(
            f"{label} was written by a newer version of Proctor (schema {version}, this one knows {HEAD}). "
            "Upgrade Proctor, or name another database in PROCTOR_DATABASE_URL."
        )


class Database(ABC):
    """A database whose schema is this version's.

    What a run writes goes through `connection`: importing SQLAlchemy alone takes longer than everything else between
    the command and its first request. Queries for people and reports go through `reading`.

    Whatever is read and written through a handle is within its scope: `within` gives one that sees a single project.
    """

    dialect: ClassVar[SqlDialect]
    unstorable: ClassVar[tuple[type[Exception], ...]]
    """What encoding or binding a row raises when it holds something that cannot be stored."""
    replace_score: ClassVar[str]
    """What follows the INSERT of a score that may be there already."""
    _scope: Scope = EVERYTHING

    @property
    def scope(self) -> Scope:
        """What may be seen and written through this handle."""
        return self._scope

    def within(self, scope: Scope) -> Self:
        """The same database with the same connections, seen within a scope; what is narrow cannot be widened."""
        if scope == self._scope:
            return self
        if self._scope != EVERYTHING:
            raise ValueError(f"a handle for the project {self._scope.project!r} shows no other")
        return self.at_scope(scope)

    def at_scope(self, scope: Scope) -> Self:
        """For the store's own counting of what projects share, such as artifacts; everyone else asks for `within`."""
        found = copy(self)
        found._scope = scope  # noqa: SLF001 - of the same class
        return found

    @property
    @abstractmethod
    def label(self) -> str:
        """What messages call it; no password is in it."""

    @property
    @abstractmethod
    def engine(self) -> Engine: ...

    @abstractmethod
    def open(self) -> None:
        """Make it where there is none, and see that its schema is this version's."""

    @abstractmethod
    def is_current(self) -> bool:
        """Whether it is there and of this version; nothing is changed."""

    @abstractmethod
    def version(self) -> str | None:
        """The schema's version; None where there is no table yet."""

    @abstractmethod
    def backup(self) -> Path | None:
        """Where `upgrade` will leave a copy of what was there; None where it makes none."""

    @abstractmethod
    def upgrade(self) -> None:
        """Bring the schema to this version."""

    @abstractmethod
    def migrate(self, to: str) -> None:
        """Bring the schema to a version, from none or from an older one; no copy is made."""

    @abstractmethod
    def snapshot(self) -> AbstractContextManager[sqlalchemy.Connection]:
        """SQLAlchemy's connection for queries that all see the same moment, while others write."""

    @abstractmethod
    def size_bytes(self) -> int: ...

    @abstractmethod
    def check(self) -> str | None:
        """What is wrong with what is stored, as far as the database itself can tell; None where nothing is."""

    @abstractmethod
    def connect(self) -> Connection:
        """A plain connection; whoever asked closes it."""

    def borrow(self, *, is_reading: bool = False) -> AbstractContextManager[Connection]:  # noqa: ARG002 - of a server
        """A plain connection for one piece of work, perhaps one that was used before; what reads may use a replica."""
        return closing(self.connect())

    def connect_writer(self) -> Connection:
        """A plain connection for inserting many rows, transaction after transaction."""
        return self.connect()

    @abstractmethod
    def explained(self) -> AbstractContextManager[None]:
        """Turns what the driver says into something a user can act on."""

    @abstractmethod
    def dispose(self) -> None:
        """Close what is kept open, for every scope."""

    def is_second_wall(self) -> bool:
        """Whether the database itself keeps projects apart where it could; a file cannot."""
        return True

    @abstractmethod
    def prepare_month(self, connection: Connection, month: int) -> None:
        """Called within the transaction that creates a run."""

    @contextmanager
    def connection(self, *, is_reading: bool = False) -> Iterator[Connection]:
        """A plain connection for one piece of work, its errors explained; what only reads may use a replica."""
        began = time.perf_counter()
        try:
            with self.explained(), self.borrow(is_reading=is_reading) as connection:
                measure("database_wait_seconds", time.perf_counter() - began)
                yield connection
        finally:
            measure("database_seconds", time.perf_counter() - began)

    def rows(self, query: str, values: Sequence[Any] = ()) -> Iterator[Row]:
        """The rows of a plain query, few of them in memory at a time."""
        with self.connection(is_reading=True) as connection:
            yield from connection.stream(query, values)

    def stream(self, query: sqlalchemy.Executable) -> Iterator[Any]:
        """The rows of a query of SQLAlchemy's, few of them in memory at a time."""
        with self.reading() as connection:
            found = connection.execution_options(yield_per=ROWS_AT_A_TIME).execute(query)
            try:
                yield from found
            finally:
                found.close()

    @contextmanager
    def reading(self) -> Iterator[sqlalchemy.Connection]:
        """SQLAlchemy's connection for queries, their errors explained."""
        with self.explained(), self.engine.connect() as connection:
            yield connection


def locate_database(url: str, read_url: str | None = None) -> Database:
    """The database that the address names, not opened; `read_url` names a replica to read from."""
    if url.startswith("sqlite:///"):
        from proctor.stores.sqlite import locate

        if read_url is not None:
            raise UserError("PROCTOR_DATABASE_READ_URL names a replica of a PostgreSQL database; this one is a file.")
        return locate(url)
    if url.startswith(("postgresql://", "postgres://")):
        from proctor.stores.postgresql import locate_server

        return locate_server(url, read_url)
    scheme = url.partition(":")[0]
    raise UserError(f"PROCTOR_DATABASE_URL is sqlite:///PATH or postgresql://USER@HOST/NAME; {scheme!r} is neither.")


def open_database(url: str, read_url: str | None = None) -> Database:
    """Open the database, making it where there is none."""
    database = locate_database(url, read_url)
    try:
        database.open()
    except BaseException:
        database.dispose()
        raise
    return database


def find_database(url: str) -> Database | None:
    """The database if it is there and of this version; nothing is made, upgraded or changed."""
    database = locate_database(url)
    if database.is_current():
        return database
    database.dispose()
    return None
