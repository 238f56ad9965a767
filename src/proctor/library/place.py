"""Where a function of the library works: the settings of the environment, and a database that is open meanwhile."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from proctor.runs.resolve import PlanContext
from proctor.secret_files import with_secret_files
from proctor.settings import Settings
from proctor.stores.artifacts.opening import open_artifacts
from proctor.stores.database import Database, open_database
from proctor.stores.model_lists import LocatedModelLists


def read_settings(home: Path | str | None) -> Settings:
    """The environment's settings; `home` takes the place of PROCTOR_HOME."""
    return Settings.from_environment({**os.environ, "PROCTOR_HOME": str(home)} if home else os.environ)


def context(settings: Settings, folder: Path, data: Path | str | None = None) -> PlanContext:
    found = settings.data if data is None else Path(data)
    environment = with_secret_files(os.environ)
    artifacts = open_artifacts(settings.artifacts_url, settings.waiting, environment, is_offline=settings.is_offline)
    return PlanContext(
        folder,
        environment,
        found,
        settings.prices,
        settings.is_offline,
        LocatedModelLists(settings.database_url),
        artifacts,
        settings.home,
    )


@contextmanager
def opened(home: Path | str | None) -> Iterator[Database]:
    """The database, let go of at the end."""
    settings = read_settings(home)
    database = open_database(settings.database_url, settings.database_read_url)
    try:
        yield database
    finally:
        database.dispose()
