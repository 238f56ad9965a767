"""Who executes runs."""

from __future__ import annotations

from datetime import UTC, datetime

from proctor.domain.documents.worker import ListedWorker
from proctor.stores.database import Database
from proctor.stores.workers import WorkerRow, WorkerStore


def list_workers(database: Database) -> list[ListedWorker]:
    """Every worker that is remembered, those that live first."""
    return [_listed(row) for row in WorkerStore(database).all()]


def _listed(row: WorkerRow) -> ListedWorker:
    return ListedWorker(
        name=row.name,
        host=row.host,
        pid=row.pid,
        version=row.version,
        pools=[pool.value for pool in row.pools],
        started_at=_moment(row.started_at),
        seen_at=_moment(row.seen_at),
        is_alive=row.is_alive,
        doing=row.doing if row.is_alive else None,
        doing_since=None if row.doing_since is None or not row.is_alive else _moment(row.doing_since),
        chunks=row.chunks_done,
        chunks_per_minute=round(row.chunks_per_minute, 2),
    )


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
