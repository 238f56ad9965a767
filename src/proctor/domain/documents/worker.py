"""Workers as `proctor workers` lists them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from proctor.domain.documents.document import Document


class ListedWorker(Document, frozen=True):
    name: str
    host: str
    pid: int
    version: str
    pools: Sequence[str]
    started_at: datetime
    seen_at: datetime
    is_alive: bool
    doing: str | None
    """None while it waits."""
    doing_since: datetime | None
    chunks: int
    """Finished since it started."""
    chunks_per_minute: float
