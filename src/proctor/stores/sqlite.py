"""A database in a file: made, brought up to date and opened; every way in which that fails is one clear line."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from functools import partial
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from proctor.domain.errors import StoreError, UserError
from proctor.stores.connection import SQLITE, Connection
from proctor.stores.database import Database, NewerDatabaseError
from proctor.stores.idle_connections import IdleConnections, ReusedConnection
from proctor.stores.score_rows import replace_score
from proctor.stores.sqlite_connection import SqliteConnection, open_connection
from proctor.stores.unstorable import UNENCODABLE
from proctor.stores.upgrade import HEAD, is_version, upgrade

if TYPE_CHECKING:
    import sqlalchemy
    from sqlalchemy import Engine

BUSY_SECONDS = 30.0
PREFIX = "sqlite:///"


class SqliteDatabase(Database):
    dialect = SQLITE
    unstorable = (*UNENCODABLE, sqlite3.DataError, sqlite3.InterfaceError, sqlite3.ProgrammingError)
    replace_score = replace_score("response_id, scorer, version")

    def __init__(self, path: Path, busy_seconds: float = BUSY_SECONDS) -> None:
        """`busy_seconds` is how long to wait for another process's write."""
        self.path, self._busy_seconds = path, busy_seconds
        self._engines: list[Engine] = []
        """One at most, shared by the handles of all scopes."""
        self._idle = IdleConnections(partial(open_connection, path, busy_seconds, ReusedConnection))

    @property
    def label(self) -> str:
        return str(self.path)

    def connect(self) -> SqliteConnection:
        return open_connection(self.path, self._busy_seconds, SqliteConnection)

    def borrow(self, *, is_reading: bool = False) -> AbstractContextManager[Connection]:  # noqa: ARG002 - of a server
        return self._idle.borrowed()

    def connect_writer(self) -> SqliteConnection:
        connection = self.connect()
        # SQLite keeps the pages that a statement of many rows changes as they were until it ends: in a temporary file,
        # where it is not told otherwise, which is written more often than the database.
        connection.execute("PRAGMA temp_store=MEMORY")
        # Rows of trials go to pages anywhere in three indexes. Those of a large run are read back for each batch, and
        # copied to the database for every second one, where 2 MB of pages are kept and a log of 4 MB is.
        connection.execute("PRAGMA cache_size=-8000")
        connection.execute("PRAGMA wal_autocheckpoint=4000")
        return connection

    @property
    def engine(self) -> Engine:
        if not self._engines:
            self._engines.append(self._new_engine())
        return self._engines[0]

    def _new_engine(self) -> Engine:
        from sqlalchemy import create_engine, event

        engine = create_engine(f"{PREFIX}{self.path}", connect_args={"timeout": self._busy_seconds})

        @event.listens_for(engine, "connect")
        def _enforce_foreign_keys(connection: sqlite3.Connection, _: object) -> None:
            connection.execute("PRAGMA foreign_keys=ON")

        return engine

    def dispose(self) -> None:
        self._idle.close()
        for engine in self._engines:
            engine.dispose()

    @contextmanager
    def explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise StoreError(_in_words(self.path, error)) from error
        except OSError as error:
            raise StoreError(
                f"Cannot use {error.filename or self.path}: {error.strerror}. "
                "Set PROCTOR_HOME to a folder that can be written."
            ) from error
        except Exception as error:
            # SQLAlchemy wraps the driver's error, and is not imported here for its name alone.
            original = getattr(error, "orig", None)
            if not isinstance(original, sqlite3.Error):
                raise
            raise StoreError(_in_words(self.path, original)) from error

    def prepare_month(self, connection: Connection, month: int) -> None:
        """Nothing: all months are in one table."""

    def open(self) -> None:
        with self.explained():
            if not self.path.exists() or self.path.stat().st_size == 0:
                self._create()
            version = self.version()
            if version == HEAD:
                return
            if version is not None and version > HEAD:
                raise NewerDatabaseError(self.label, version)
            self.upgrade()

    def is_current(self) -> bool:
        try:
            with closing(sqlite3.connect(f"{self.path.as_uri()}?mode=ro", uri=True)) as connection:
                row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
        except sqlite3.Error:
            return False
        return row is not None and row[0] == HEAD

    def check(self) -> str | None:
        with self.connection() as connection:
            state = str(connection.execute("PRAGMA quick_check").fetchone()[0])
        return None if state == "ok" else state

    def size_bytes(self) -> int:
        return self.path.stat().st_size

    def version(self) -> str | None:
        if not self.path.exists():
            return None
        connection = sqlite3.connect(self.path, timeout=self._busy_seconds)
        with closing(connection):
            tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            if "alembic_version" in tables:
                row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
                if row is not None and is_version(str(row[0])):
                    return str(row[0])
        if tables - {"alembic_version"}:
            raise UserError(f"{self.path} is a database of another program; Proctor does not touch it.")
        return None

    def _create(self) -> None:
        """Make every table in one transaction: of two processes that start together, the second finds it done."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        script = Path(__file__).with_name("schema.sql").read_text(encoding="utf-8")
        connection = sqlite3.connect(self.path, isolation_level=None, timeout=self._busy_seconds)
        with closing(connection):
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("BEGIN EXCLUSIVE")
            if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0:
                for statement in script.split(";\n\n"):
                    connection.execute(statement)
                connection.execute(
                    "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL, "
                    "CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num))"
                )
                connection.execute("INSERT INTO alembic_version VALUES (?)", [HEAD])
            connection.execute("COMMIT")

    def backup(self) -> Path:
        """A name that nothing has yet: an earlier copy is not written over."""
        name = f"{self.path.name}.before-{HEAD}-from-{self.version() or 'empty'}"
        numbered = (f"{name}.{number}" for number in count(2))
        return next(path for one in chain([name], numbered) if not (path := self.path.with_name(one)).exists())

    def upgrade(self) -> None:
        """Bring the schema to this version, after a copy was made."""
        copy = self.backup()
        with closing(sqlite3.connect(self.path)) as source, closing(sqlite3.connect(copy)) as target:
            source.backup(target)
        upgrade(f"{PREFIX}{self.path}", self._busy_seconds)

    def migrate(self, to: str) -> None:
        with self.explained():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            upgrade(f"{PREFIX}{self.path}", self._busy_seconds, to)
            with closing(sqlite3.connect(self.path)) as connection:
                connection.execute("PRAGMA journal_mode=WAL")

    @contextmanager
    def snapshot(self) -> Iterator[sqlalchemy.Connection]:
        with self.reading() as connection:
            # The driver would begin nothing for queries: each would see what others have committed meanwhile.
            connection.exec_driver_sql("BEGIN")
            connection.exec_driver_sql("SELECT count(*) FROM sqlite_master").all()  # the moment that is seen
            try:
                yield connection
            finally:
                connection.rollback()


def locate(url: str) -> SqliteDatabase:
    path, _, query = url.removeprefix(PREFIX).partition("?")
    options = dict(parse_qsl(query))
    try:
        seconds = float(options.pop("timeout", BUSY_SECONDS))
    except ValueError:
        raise UserError("timeout in PROCTOR_DATABASE_URL is a number of seconds.") from None
    if options or not path:
        raise UserError("PROCTOR_DATABASE_URL for SQLite is sqlite:///PATH, with ?timeout=SECONDS if need be.")
    return SqliteDatabase(Path(path).absolute(), seconds)


def _in_words(path: Path, error: sqlite3.Error) -> str:
    text = str(error)
    if "locked" in text or "busy" in text:
        return f"{path} is locked by another program. Wait for it or end it, then try again."
    if "full" in text:
        return f"The disk is full: {path} cannot grow. What was recorded is kept; free some room and resume the run."
    if "readonly" in text or "unable to open" in text:
        return f"{path} cannot be written. Set PROCTOR_HOME to a folder that can."
    if isinstance(error, sqlite3.IntegrityError):
        return f"{path}: a row that was to be written contradicts what is there ({text}). Nothing was changed."
    if isinstance(error, sqlite3.OperationalError):
        return f"{path} cannot be used: {text}."
    return f"{path} is damaged or is no database ({text}). Restore a backup, or move the file away and start anew."
