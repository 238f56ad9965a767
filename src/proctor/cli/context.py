"""Where a command works: settings, database, and what plans are read in."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from proctor.domain.artifacts import Artifacts
    from proctor.runs.resolve import PlanContext
    from proctor.stores.database import Database


def context(data: str | None = None) -> PlanContext:
    """This folder, this environment; `data` wins over the environment's folder with benchmark data."""
    from proctor.runs.resolve import PlanContext
    from proctor.secret_files import with_secret_files
    from proctor.settings import Settings
    from proctor.stores.model_lists import LocatedModelLists

    settings = Settings.from_environment()
    folder = Path(data) if data is not None else settings.data
    return PlanContext(
        Path.cwd(),
        with_secret_files(os.environ),
        folder,
        settings.prices,
        settings.is_offline,
        LocatedModelLists(settings.database_url),
        artifacts(),
        settings.home,
    )


def artifacts() -> Artifacts:
    """Where this environment keeps large bodies; nothing is connected to yet."""
    from proctor.secret_files import with_secret_files
    from proctor.settings import Settings
    from proctor.stores.artifacts.opening import open_artifacts

    settings, environment = Settings.from_environment(), with_secret_files(os.environ)
    return open_artifacts(settings.artifacts_url, settings.waiting, environment, is_offline=settings.is_offline)


@contextmanager
def database() -> Iterator[Database]:
    """The database of this environment, made or brought up to date where needed."""
    from proctor.settings import Settings
    from proctor.stores.database import open_database

    settings = Settings.from_environment()
    opened = open_database(settings.database_url, settings.database_read_url)
    try:
        yield opened
    finally:
        opened.dispose()


def print_json(value: object) -> None:
    """One document on standard output."""
    from proctor.domain.documents.document import json_text

    click.echo(json_text(value))  # noqa: TID251 - escaped as JSON
