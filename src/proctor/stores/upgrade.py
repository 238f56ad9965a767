"""Bring a database to this version's schema."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from alembic.config import Config
    from sqlalchemy import Connection

HEAD = "0034"
"""The newest migration; a test holds it against the scripts."""


def is_version(text: str) -> bool:
    """Whether it could be one of ours: other programs that use Alembic name theirs otherwise."""
    return len(text) == len(HEAD) and text.isdecimal()


def configuration(connection: Connection | None = None) -> Config:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.attributes["connection"] = connection
    return config


def upgrade(url: str, busy_seconds: float = 30.0, to: str = "head") -> None:
    """Apply every migration that is missing to a file, all or none; calling it twice is harmless."""
    from sqlalchemy import create_engine, event

    engine = create_engine(url, connect_args={"timeout": busy_seconds})

    # The driver would commit every change of a table at once: killed in between, the file would be half of each.
    @event.listens_for(engine, "connect")
    def _begin_nothing(connection: sqlite3.Connection, _: object) -> None:
        connection.isolation_level = None

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    try:
        with engine.begin() as connection:
            upgrade_connection(connection, to)
    finally:
        engine.dispose()


def steps(version: str | None) -> list[tuple[str, str]]:
    """The migrations that are missing, oldest first: number and what it is about."""
    from alembic.script import ScriptDirectory

    scripts = ScriptDirectory.from_config(configuration())
    missing = scripts.iterate_revisions("head", version or "base")
    return [(script.revision, (script.doc or "").strip()) for script in reversed(list(missing))]


def upgrade_connection(connection: Connection, to: str = "head") -> None:
    """The same within a transaction of the caller's."""
    from alembic import command

    command.upgrade(configuration(connection), to)
