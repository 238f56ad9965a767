"""The processes that execute chunks: who is alive, what they do, and which pools have anybody at all."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterable

from msgspec import Struct

from proctor.domain.chunk import Pool
from proctor.stores.connection import Row
from proctor.stores.database import Database
from proctor.stores.leases import this_process
from proctor.version import __version__

SEEN_SECONDS = 10.0
"""A worker that was not seen for longer is not counted on; workers tell of themselves every second or two."""
FORGOTTEN_SECONDS = 86_400.0


class WorkerRow(Struct, frozen=True):
    name: str
    host: str
    pid: int
    version: str
    pools: tuple[Pool, ...]
    started_at: float
    """Seconds since 1970, by the database's clock, as are the others."""
    seen_at: float
    doing: str | None
    """What it works on, in words; None while it waits."""
    doing_since: float | None
    chunks_done: int
    is_alive: bool
    """Whether it was seen within the last seconds."""
    seconds: float
    """Since it started, until it was last seen."""

    @property
    def chunks_per_minute(self) -> float:
        return 60 * self.chunks_done / self.seconds if self.seconds > 0 else 0.0


class WorkerStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    def register(self, pools: Iterable[Pool], name: str | None = None) -> str:
        """Say that this process executes chunks of these pools; gives the name to go by. Repeating it is harmless."""
        name, now = name or this_process(), self._database.dialect.now
        with self._database.connection() as connection:
            connection.execute(
                "INSERT INTO workers (name, host, pid, version, pools, started_at, seen_at) "  # noqa: S608 - our own
                f"VALUES (?, ?, ?, ?, ?, {now}, {now}) ON CONFLICT (name) DO UPDATE SET pools = excluded.pools, "
                "seen_at = excluded.seen_at, pid = excluded.pid, host = excluded.host, version = excluded.version",
                [name, socket.gethostname(), os.getpid(), __version__, ",".join(pools)],
            )
        return name

    def beat(self, name: str, doing: str | None = None, chunks: int = 0) -> bool:
        """It lives, does this now, and has finished so many more chunks; False when nobody knows it."""
        now = self._database.dialect.now
        with self._database.connection() as connection:
            changed = connection.execute(
                f"UPDATE workers SET seen_at = {now}, chunks_done = chunks_done + ?, doing = ?, "  # noqa: S608 - our own
                "doing_since = CASE WHEN CAST(? AS TEXT) IS NULL THEN NULL WHEN doing = ? THEN doing_since "
                f"ELSE {now} END WHERE name = ?",
                [chunks, doing, doing, doing, name],
            )
        return changed.rowcount > 0

    def leave(self, name: str) -> None:
        """It ends in good order; workers that nobody has seen for a day are forgotten with it."""
        now = self._database.dialect.now
        with self._database.connection() as connection:
            connection.execute(
                f"DELETE FROM workers WHERE name = ? OR seen_at < {now} - ?",  # noqa: S608 - our own
                [name, FORGOTTEN_SECONDS],
            )

    def all(self) -> list[WorkerRow]:
        """Every worker that is remembered, those that live first."""
        now = self._database.dialect.now
        query = f"SELECT *, seen_at > {now} - ? AS is_alive FROM workers ORDER BY 11 DESC, name"  # noqa: S608 - our own
        with self._database.connection() as connection:
            return [_worker(row) for row in connection.execute(query, [SEEN_SECONDS])]

    def alive(self, pool: Pool | None = None) -> int:
        """How many live, of those that take chunks of the pool."""
        return sum(row.is_alive and (pool is None or pool in row.pools) for row in self.all())


def _worker(row: Row) -> WorkerRow:
    return WorkerRow(
        name=row["name"],
        host=row["host"],
        pid=row["pid"],
        version=row["version"],
        pools=tuple(Pool(name) for name in row["pools"].split(",") if name),
        started_at=row["started_at"],
        seen_at=row["seen_at"],
        doing=row["doing"],
        doing_since=row["doing_since"],
        chunks_done=row["chunks_done"],
        is_alive=bool(row["is_alive"]),
        seconds=row["seen_at"] - row["started_at"],
    )
