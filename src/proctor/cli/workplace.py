"""Where a command works: settings, database, and what plans are read in."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import orjson

from proctor.runs.resolve import Surroundings
from proctor.settings import Settings
from proctor.stores.database import Database, open_database


def surroundings(settings: Settings) -> Surroundings:
    return Surroundings(folder=Path.cwd(), environment=os.environ, data=settings.data)


@contextmanager
def database() -> Iterator[Database]:
    """The database of this environment, made or brought up to date where needed."""
    opened = open_database(Settings.from_environment().database_url)
    try:
        yield opened
    finally:
        opened.dispose()


def print_json(value: Any) -> None:
    """One document on standard output."""
    click.echo(orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS, default=str).decode())


def complete_run(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Run ids for shell completion."""
    from proctor.domain.errors import ProctorError
    from proctor.stores.listing import list_runs

    try:
        with database() as opened:
            ids = [row.id for row in list_runs(opened, limit=50)]
    except ProctorError:
        return []
    return [name for name in ["latest", *ids] if name.startswith(incomplete)]
