"""Finds, makes, checks and opens the database; every way in which that fails is one clear line."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from msgspec import Struct

from proctor.domain.errors import StoreError, UserError
from proctor.stores.upgrade import HEAD, upgrade

if TYPE_CHECKING:
    from sqlalchemy import Engine

BUSY_SECONDS = 30.0
SQLITE = "sqlite:///"


class NewerDatabaseError(UserError):
    """The database was written by a newer version of Proctor."""


class Database(Struct, frozen=True, dict=True):
    """A database whose schema is this version's.

    `connect` gives a plain SQLite connection: what a run writes goes this way, because importing SQLAlchemy alone
    takes longer than everything else between the command and its first request. Queries go through `engine`.
    """

    path: Path
    busy_seconds: float = BUSY_SECONDS
    """How long to wait for another process's write."""

    def connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path, isolation_level=None, timeout=self.busy_seconds, check_same_thread=False
        )
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA foreign_keys=ON")
        return connection

    @cached_property
    def engine(self) -> Engine:
        from sqlalchemy import create_engine, event

        engine = create_engine(f"{SQLITE}{self.path}", connect_args={"timeout": self.busy_seconds})

        @event.listens_for(engine, "connect")
        def _enforce_foreign_keys(connection: sqlite3.Connection, _: object) -> None:
            connection.execute("PRAGMA foreign_keys=ON")

        return engine

    def dispose(self) -> None:
        if "engine" in self.__dict__:
            self.engine.dispose()


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn what SQLite and the file system say into something a user can act on."""
    try:
        yield
    except sqlite3.Error as error:
        raise StoreError(_in_words(path, error)) from error
    except OSError as error:
        raise StoreError(
            f"Cannot use {error.filename or path}: {error.strerror}. Set PROCTOR_HOME to a folder that can be written."
        ) from error
    except Exception as error:
        # SQLAlchemy wraps the driver's error, and is not imported here for its name alone.
        original = getattr(error, "orig", None)
        if not isinstance(original, sqlite3.Error):
            raise
        raise StoreError(_in_words(path, original)) from error


def _in_words(path: Path, error: sqlite3.Error) -> str:
    text = str(error)
    if "locked" in text or "busy" in text:
        return f"{path} is locked by another program. Wait for it or end it, then try again."
    if "full" in text:
        return f"The disk is full: {path} cannot grow. What was recorded is kept; free some room and resume the run."
    if "readonly" in text or "unable to open" in text:
        return f"{path} cannot be written. Set PROCTOR_HOME to a folder that can."
    if isinstance(error, sqlite3.OperationalError):
        return f"{path} cannot be used: {text}."
    return f"{path} is damaged or is no database ({text}). Restore a backup, or move the file away and start anew."


def open_database(url: str) -> Database:
    """Open the database, making it or bringing it up to date where needed."""
    database = _locate(url)
    path = database.path
    with explained(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.stat().st_size == 0:
            _create(database)
        _check_version(database)
    return database


def find_database(url: str) -> Database | None:
    """The database if it is there and of this version; nothing is made, upgraded or changed."""
    database = _locate(url)
    try:
        with closing(sqlite3.connect(f"{database.path.as_uri()}?mode=ro", uri=True)) as connection:
            row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    except sqlite3.Error:
        return None
    return database if row is not None and row[0] == HEAD else None


def _locate(url: str) -> Database:
    if not url.startswith(SQLITE):
        scheme = url.partition(":")[0]
        raise UserError(
            f"This version keeps results in SQLite only; {scheme!r} in PROCTOR_DATABASE_URL is not supported."
        )
    path, _, query = url.removeprefix(SQLITE).partition("?")
    options = dict(parse_qsl(query))
    try:
        seconds = float(options.pop("timeout", BUSY_SECONDS))
    except ValueError:
        raise UserError("timeout in PROCTOR_DATABASE_URL is a number of seconds.") from None
    if options or not path:
        raise UserError("PROCTOR_DATABASE_URL for SQLite is sqlite:///PATH, with ?timeout=SECONDS if need be.")
    return Database(Path(path).absolute(), seconds)


def _create(database: Database) -> None:
    """Make every table in one transaction: of two processes that start together, the second finds it done."""
    script = files("proctor.stores").joinpath("schema.sql").read_text(encoding="utf-8")
    connection = sqlite3.connect(database.path, isolation_level=None, timeout=database.busy_seconds)
    try:
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
    finally:
        connection.close()


def _check_version(database: Database) -> None:
    connection = sqlite3.connect(database.path, timeout=database.busy_seconds)
    try:
        tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        row = (
            connection.execute("SELECT version_num FROM alembic_version").fetchone()
            if "alembic_version" in tables
            else None
        )
    finally:
        connection.close()
    version = row[0] if row else None
    if version == HEAD:
        return
    if version is None and tables - {"alembic_version"}:
        raise UserError(f"{database.path} is a database of another program; Proctor does not touch it.")
    if version is not None and version > HEAD:
        raise NewerDatabaseError(
            f"{database.path} was written by a newer version of Proctor (schema {version}, this one knows {HEAD}). "
            "Upgrade Proctor, or name another database in PROCTOR_DATABASE_URL."
        )
    _back_up(database, version)
    upgrade(f"{SQLITE}{database.path}")


def _back_up(database: Database, version: str | None) -> None:
    """A copy beside the file, so that an upgrade can be taken back by hand."""
    copy = database.path.with_name(f"{database.path.name}.before-{HEAD}-from-{version or 'empty'}")
    source, target = sqlite3.connect(database.path), sqlite3.connect(copy)
    try:
        source.backup(target)
    finally:
        source.close()
        target.close()
