"""The database that results are kept in: SQLite in a file, or PostgreSQL on a server."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from typing import TYPE_CHECKING, ClassVar

from proctor.domain.errors import UserError
from proctor.stores.connection import Connection, Dialect
from proctor.stores.upgrade import HEAD

if TYPE_CHECKING:
    import sqlalchemy
    from sqlalchemy import Engine


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
    """

    dialect: ClassVar[Dialect]
    unstorable: ClassVar[tuple[type[Exception], ...]]
    """What encoding or binding a row raises when it holds something that cannot be stored."""
    replace_score: ClassVar[str]
    """What follows the INSERT of a score that may be there already."""

    @property
    @abstractmethod
    def label(self) -> str:
        """What messages call it; no password is in it."""

    @property
    @abstractmethod
    def engine(self) -> Engine: ...

    @abstractmethod
    def connect(self) -> Connection:
        """A plain connection; whoever asked closes it."""

    @abstractmethod
    def explained(self) -> AbstractContextManager[None]:
        """Turns what the driver says into something a user can act on."""

    @abstractmethod
    def dispose(self) -> None:
        """Close what is kept open."""

    @abstractmethod
    def prepare_month(self, connection: Connection, month: int) -> None:
        """Called within the transaction that creates a run."""

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """A plain connection for one piece of work, its errors explained."""
        with self.explained(), closing(self.connect()) as connection:
            yield connection

    @contextmanager
    def reading(self) -> Iterator[sqlalchemy.Connection]:
        """SQLAlchemy's connection for queries, their errors explained."""
        with self.explained(), self.engine.connect() as connection:
            yield connection


def open_database(url: str, read_url: str | None = None) -> Database:
    """Open the database, making it or bringing it up to date where needed; `read_url` names a replica to read from."""
    if url.startswith("sqlite:///"):
        from proctor.stores.sqlite import locate, open_file

        if read_url is not None:
            raise UserError("PROCTOR_DATABASE_READ_URL names a replica of a PostgreSQL database; this one is a file.")
        file = locate(url)
        open_file(file)
        return file
    if _is_postgresql(url):
        from proctor.stores.postgresql import locate_server, open_server

        server = locate_server(url, read_url)
        open_server(server)
        return server
    raise _unknown(url)


def find_database(url: str) -> Database | None:
    """The database if it is there and of this version; nothing is made, upgraded or changed."""
    if url.startswith("sqlite:///"):
        from proctor.stores.sqlite import find_file, locate

        return find_file(locate(url))
    if _is_postgresql(url):
        from proctor.stores.postgresql import find_server, locate_server

        return find_server(locate_server(url))
    raise _unknown(url)


def _is_postgresql(url: str) -> bool:
    return url.startswith(("postgresql://", "postgres://"))


def _unknown(url: str) -> UserError:
    scheme = url.partition(":")[0]
    return UserError(f"PROCTOR_DATABASE_URL is sqlite:///PATH or postgresql://USER@HOST/NAME; {scheme!r} is neither.")
