"""Runs in lists: summaries only, newest first, paged by key."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct
from sqlalchemy import func, select, tuple_

from proctor.domain.run import RunStatus
from proctor.stores.database import Database, explained
from proctor.stores.schema import evaluations, runs


class RunListing(Struct, frozen=True):
    id: str
    name: str | None
    status: RunStatus
    created_at: datetime
    seconds: float
    models: tuple[str, ...]
    benchmarks: tuple[str, ...]
    trials: int


def list_runs(
    database: Database, *, limit: int, status: RunStatus | None = None, before: tuple[str, str] | None = None
) -> list[RunListing]:
    """The newest runs; `before` is (created_at, id) of the last one seen."""
    query = select(runs).order_by(runs.c.created_at.desc(), runs.c.id.desc()).limit(limit)
    if status is not None:
        query = query.where(runs.c.status == status.value)
    if before is not None:
        query = query.where(tuple_(runs.c.created_at, runs.c.id) < before)
    with explained(database.path), database.engine.connect() as connection:
        rows = connection.execute(query).all()
        parts = connection.execute(
            select(
                evaluations.c.run_id,
                evaluations.c.model,
                evaluations.c.benchmark,
                (evaluations.c.samples * evaluations.c.epochs).label("trials"),
            )
            .where(evaluations.c.run_id.in_([row.id for row in rows]))
            .order_by(evaluations.c.run_id, evaluations.c.position)
        ).all()
    return [
        RunListing(
            id=row.id,
            name=row.name,
            status=RunStatus(row.status),
            created_at=datetime.fromisoformat(row.created_at),
            seconds=row.seconds,
            models=tuple(dict.fromkeys(part.model for part in parts if part.run_id == row.id)),
            benchmarks=tuple(dict.fromkeys(part.benchmark for part in parts if part.run_id == row.id)),
            trials=sum(part.trials for part in parts if part.run_id == row.id),
        )
        for row in rows
    ]


def count_runs(database: Database) -> int:
    with explained(database.path), database.engine.connect() as connection:
        return connection.execute(select(func.count()).select_from(runs)).scalar_one()
