"""Bring a database to this version's schema."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from alembic.config import Config
    from sqlalchemy import Connection

HEAD = "0006"
"""The newest migration; a test holds it against the scripts."""


def configuration(connection: Connection | None = None) -> Config:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.attributes["connection"] = connection
    return config


def upgrade(url: str) -> None:
    """Apply every migration that is missing; calling it twice is harmless."""
    from alembic import command
    from sqlalchemy import create_engine

    engine = create_engine(url)
    try:
        with engine.begin() as connection:
            command.upgrade(configuration(connection), "head")
    finally:
        engine.dispose()
