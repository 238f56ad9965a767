"""Finds, makes, checks and opens the database; every way in which that fails is one clear line."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from proctor.domain.errors import StoreError, UserError
from proctor.stores.upgrade import HEAD, upgrade

if TYPE_CHECKING:
    from sqlalchemy import Engine

BUSY_SECONDS = 30.0
SQLITE = "sqlite:///"


class NewerDatabaseError(UserError):
    """The database was written by a newer version of Proctor."""


@dataclass(frozen=True)
class Database:
    """A database whose schema is this version's.

    `connect` gives a plain SQLite connection: what a run writes goes this way, because importing SQLAlchemy alone
    takes longer than everything else between the command and its first request. Queries go through `engine`.
    """

    path: Path

    def connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, isolation_level=None, timeout=BUSY_SECONDS, check_same_thread=False)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA foreign_keys=ON")
        return connection

    @cached_property
    def engine(self) -> Engine:
        from sqlalchemy import create_engine, event

        engine = create_engine(f"{SQLITE}{self.path}", connect_args={"timeout": BUSY_SECONDS})

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
    except sqlite3.OperationalError as error:
        raise StoreError(_operational(path, error)) from error
    except sqlite3.DatabaseError as error:
        raise StoreError(
            f"{path} is damaged or is no Proctor database ({error}). "
            "Restore a backup, or move the file away and start anew."
        ) from error
    except OSError as error:
        raise StoreError(
            f"Cannot use {error.filename or path}: {error.strerror}. Set PROCTOR_HOME to a folder that can be written."
        ) from error


def _operational(path: Path, error: sqlite3.OperationalError) -> str:
    text = str(error)
    if "locked" in text or "busy" in text:
        return f"{path} is locked by another program for more than {BUSY_SECONDS:.0f} s. Wait for it or end it."
    if "full" in text:
        return f"The disk is full: {path} cannot grow. What was recorded is kept; free some room and resume the run."
    if "readonly" in text or "unable to open" in text:
        return f"{path} cannot be written. Set PROCTOR_HOME to a folder that can."
    return f"{path} cannot be used: {text}."


def open_database(url: str) -> Database:
    """Open the database, making it or bringing it up to date where needed."""
    path = _path_of(url)
    with explained(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        is_new = not path.exists() or path.stat().st_size == 0
        if is_new:
            _create(path)
        database = Database(path)
        _check_version(database, url)
    return database


def _path_of(url: str) -> Path:
    if not url.startswith(SQLITE):
        scheme = url.partition(":")[0]
        raise UserError(
            f"This version keeps results in SQLite only; {scheme!r} in PROCTOR_DATABASE_URL is not supported."
        )
    return Path(url.removeprefix(SQLITE)).absolute()


def _create(path: Path) -> None:
    """Make every table in one transaction: of two processes that start together, the second finds it done."""
    script = files("proctor.stores").joinpath("schema.sql").read_text(encoding="utf-8")
    connection = sqlite3.connect(path, isolation_level=None, timeout=BUSY_SECONDS)
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


def _check_version(database: Database, url: str) -> None:
    connection = sqlite3.connect(database.path, timeout=BUSY_SECONDS)
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
    if version is None and tables:
        raise UserError(f"{database.path} is a database of another program; Proctor does not touch it.")
    if version is not None and version > HEAD:
        raise NewerDatabaseError(
            f"{database.path} was written by a newer version of Proctor (schema {version}, this one knows {HEAD}). "
            "Upgrade Proctor, or name another database in PROCTOR_DATABASE_URL."
        )
    upgrade(url)
