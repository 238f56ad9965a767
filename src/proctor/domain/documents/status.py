"""How a server is: what it depends on, what it does itself, and what people get of it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from proctor.domain.documents.document import Document

State = Literal["ok", "warning", "down", "unknown"]


class StatusCheck(Document, frozen=True):
    name: str
    state: State
    """`unknown` where nothing was measured: no run in the last hour, a database that does not answer."""
    value: float | None
    """None where there is no number."""
    unit: str | None
    reason: str
    """What was seen, and where it is not well, what to do."""


class StatusLevel(Document, frozen=True):
    state: State
    """The worst of its checks."""
    checks: Sequence[StatusCheck]


class ServiceStatus(Document, frozen=True):
    state: State
    """The worst of the levels."""
    at: datetime
    services: StatusLevel
    """What the server depends on: database, broker, artifacts, backups."""
    application: StatusLevel
    """The processes: workers, disk, certificate, clock, event streams, logs."""
    business: StatusLevel
    """What people get: work that waits, by pool, and how many trials of the last hour came to a score."""
