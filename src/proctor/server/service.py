"""What the routes of one server share: settings, the database, who executes runs, and who may call."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, cast

from msgspec import Struct, field

from proctor.accounts.guessing import GuessLimit
from proctor.accounts.single_sign_on import SignInWay
from proctor.domain.errors import ProctorError, StoreError
from proctor.runs.playground.live import Playground
from proctor.runs.resolve import PlanContext
from proctor.runs.storage.backups import list_backups
from proctor.server.certificate import read_expiry
from proctor.server.document_cache import DocumentCache
from proctor.server.events import Feeds
from proctor.server.project_feed import ProjectFeed
from proctor.server.request_limit import CallerLimit
from proctor.server.stream_limit import StreamLimit
from proctor.server.uploads import UploadTurns
from proctor.settings import Settings
from proctor.stores.backups.places import open_place
from proctor.stores.database import Database

if TYPE_CHECKING:
    from starlette.requests import HTTPConnection

    from proctor.server.access import Caller
    from proctor.server.execution import Executor
    from proctor.telemetry.metrics import ServerMetrics


class Service(Struct, dict=True, eq=False):
    """A server's parts; `identify` says who sent a request (see `access`)."""

    settings: Settings
    database: Database
    context: PlanContext
    """What plans are read in."""
    identify: Callable[[Service, HTTPConnection], Caller]
    executor: Executor
    hosts: frozenset[str]
    """Names by which requests may call this server; every other is refused."""
    origin: str | None = None
    """The address people use, where it is not the one that is listened on: `https://proctor.example`."""
    certificate: Path | None = None
    """The file with the certificate that is shown, where there is one."""
    ways: Mapping[str, SignInWay] = {}
    """Identity providers through which people sign in."""
    feeds: Feeds = field(default_factory=Feeds)
    streams: StreamLimit = field(default_factory=StreamLimit)
    playground: Playground = field(default_factory=Playground)
    """The asks that this process answers."""
    guesses: GuessLimit = field(default_factory=GuessLimit)
    requests: CallerLimit | None = None
    """How many requests a minute an address, a key and a user may send; None for any number."""
    ending: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the server is told to end: streams say goodbye and are to be opened again."""
    uploads: UploadTurns = field(default_factory=UploadTurns)
    documents: DocumentCache = field(default_factory=DocumentCache)
    """Documents that are not computed anew while they hold."""

    @cached_property
    def project_feed(self) -> ProjectFeed:
        """The events of all runs, for those who follow a whole project."""
        return ProjectFeed(self.database)

    @cached_property
    def metrics(self) -> ServerMetrics:
        """What Prometheus reads of this server."""
        from proctor.telemetry.metrics import ServerMetrics

        return ServerMetrics(
            self.database,
            self.settings.home,
            self.newest_backup,
            streams=lambda: self.streams.open,
            others=self.executor.collectors(),
            certificate_expiry=None if self.certificate is None else read_expiry(self.certificate),
        )

    def newest_backup(self) -> float | None:
        """When it was made; None where there is none, or the place of backups cannot be read."""
        try:
            place = open_place(self.settings.backups_url, self.context.environment, is_offline=self.settings.is_offline)
            found = list_backups(place).backups
        except ProctorError:
            return None
        return found[0].created_at.timestamp() if found else None

    def down(self) -> list[str]:
        """What is needed and does not answer now; empty when requests can be served."""
        found = []
        try:
            with self.database.connection() as connection:
                connection.execute("SELECT 1").fetchone()
        except StoreError:
            found.append("database")
        return [*found, *self.executor.down()]


def service_of(connection: HTTPConnection) -> Service:
    """The service that a request came to."""
    return cast("Service", connection.app.state.service)
