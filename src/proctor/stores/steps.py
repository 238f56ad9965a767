"""A run's preparation and its end: each is done by whoever holds its lease, and written once.

Rows are locked in one order everywhere: a chunk, its run's row in the queue, the run itself.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from itertools import islice
from typing import TYPE_CHECKING

from msgspec import Struct

from proctor.domain.chunk import Slice
from proctor.domain.message import Json
from proctor.domain.run import RunStatus
from proctor.domain.text import shorten, storable
from proctor.stores.chunk_rows import CHUNK_COLUMNS, progress_of
from proctor.stores.codec import to_json, to_pico
from proctor.stores.connection import Connection, SqlDialect
from proctor.stores.database import Database
from proctor.stores.events import add_event
from proctor.stores.leases import CHUNK_LEASE_SECONDS, LeaseLostError, this_process
from proctor.stores.moments import month_of, now_text
from proctor.stores.new_runs import insert_evaluations
from proctor.stores.project_turns import give_turn
from proctor.stores.queue import END_EVENTS, queue_row
from proctor.stores.scoping import check_run

if TYPE_CHECKING:
    from proctor.domain.evaluation import Evaluation
    from proctor.domain.plan import Plan

CHUNKS_AT_A_TIME = 1_000
FIRST_FENCES = 2**30
"""SQLite gives the numbers of deleted chunks again: theirs begin anywhere, so that no old fence is a new chunk's."""
_OPEN = (RunStatus.QUEUED, RunStatus.RUNNING)


class StepLease(Struct, frozen=True):
    """This process's hold on the preparation or the end of a run."""

    run_id: str
    fence: int

    def check(self, connection: Connection, dialect: SqlDialect) -> None:
        """Within a transaction: it is this process's until the transaction ends, or LeaseLostError."""
        row = connection.execute(
            f"SELECT fence, lease_owner FROM queue WHERE run_id = ? {dialect.for_update}",  # noqa: S608 - our own words
            [self.run_id],
        ).fetchone()
        if row is None or row[0] != self.fence or row[1] is None:
            raise LeaseLostError(self.run_id)


class StepStore:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._sql = database.dialect

    def lease(self, run_id: str) -> StepLease | None:
        """Claim the preparation or the end of a run; None when another process has it or there is nothing to do."""
        sql = self._sql
        check_run(self._database, run_id)
        with self._database.connection() as connection:
            row = connection.execute(
                f"UPDATE queue SET fence = fence + 1, lease_owner = ?, lease_until = {sql.now} + ?, "  # noqa: S608
                "lost_leases = lost_leases + CASE WHEN lease_owner IS NULL THEN 0 ELSE 1 END "
                f"WHERE run_id = ? AND finished_at IS NULL AND (lease_owner IS NULL OR lease_until < {sql.now}) "
                "RETURNING fence, prepared_at",
                [this_process(), CHUNK_LEASE_SECONDS, run_id],
            ).fetchone()
            if row is not None and row["prepared_at"] is None:
                query = "SELECT project FROM runs WHERE id = ?"
                give_turn(connection, sql, connection.execute(query, [run_id]).fetchone()[0])
        return None if row is None else StepLease(run_id, row[0])

    def renew(self, lease: StepLease) -> None:
        """Keep the lease; raises LeaseLostError when another process has it."""
        with self._database.connection() as connection:
            changed = connection.execute(
                f"UPDATE queue SET lease_until = {self._sql.now} + ? "  # noqa: S608 - our own words
                "WHERE run_id = ? AND fence = ? AND lease_owner IS NOT NULL",
                [CHUNK_LEASE_SECONDS, lease.run_id, lease.fence],
            )
        if changed.rowcount == 0:
            raise LeaseLostError(lease.run_id)

    def release(self, lease: StepLease) -> None:
        """Let others have it."""
        with self._database.connection() as connection:
            connection.execute(
                "UPDATE queue SET lease_owner = NULL, lease_until = NULL WHERE run_id = ? AND fence = ?",
                [lease.run_id, lease.fence],
            )

    def write_prepared(
        self,
        lease: StepLease,
        plan: Plan,
        evaluations: Sequence[Evaluation],
        slices: Iterable[Slice],
        *,
        taken_usd: Decimal = Decimal(0),
        events: Sequence[tuple[str, Mapping[str, Json]]] = (),
    ) -> int:
        """Write the evaluations and every chunk, all or none; gives the number of chunks.

        `slices` name evaluations by their place in `evaluations`.
        """
        run_id, count = lease.run_id, 0
        with self._database.connection() as connection, connection.transaction():
            lease.check(connection, self._sql)
            run = connection.execute("SELECT status, created_at FROM runs WHERE id = ?", [run_id]).fetchone()
            queued = connection.execute("SELECT priority FROM queue WHERE run_id = ?", [run_id]).fetchone()
            if run["status"] not in _OPEN:
                raise LeaseLostError(run_id)  # it was cancelled meanwhile
            created_at = datetime.fromisoformat(run["created_at"])
            self._database.prepare_month(connection, month_of(created_at))
            ids = _evaluation_ids(connection, run_id)
            if ids:
                _use_scorers(connection, dict(zip(ids, evaluations, strict=True)))
            else:
                insert_evaluations(connection, run_id, evaluations, created_at)
                ids = _evaluation_ids(connection, run_id)
            fence = secrets.randbelow(FIRST_FENCES)
            rows = (
                (run_id, ids[one.evaluation_id], one.position, one.count, one.pool, queued["priority"], fence, 0)
                for one in slices
            )
            while page := list(islice(rows, CHUNKS_AT_A_TIME)):
                connection.insert("chunks", CHUNK_COLUMNS, page)
                count += len(page)
            trials = sum(item.trials for item in evaluations)
            connection.execute(
                f"UPDATE queue SET prepared_at = {self._sql.now}, chunks_open = ?, trials = ?, taken_pico_usd = ?, "  # noqa: S608
                "lease_owner = NULL, lease_until = NULL, announced_at = NULL, lost_leases = 0 WHERE run_id = ?",
                [count, trials, to_pico(taken_usd), run_id],
            )
            connection.execute("UPDATE runs SET plan = ? WHERE id = ?", [plan.model_dump_json(), run_id])
            for kind, data in events:
                add_event(connection, run_id, kind, data)
            said = {"evaluations": len(evaluations), "trials": trials, "chunks": count}
            add_event(connection, run_id, "prepared", said)
        return count

    def finish(
        self, lease: StepLease, status: RunStatus, error: str | None = None, unanswered_usd: Decimal | None = None
    ) -> bool:
        """Close the run, exactly once; False when it was closed before."""
        run_id = lease.run_id
        with self._database.connection() as connection, connection.transaction(is_short=True):
            row = connection.execute(
                f"SELECT *, {self._sql.now} - begun_at AS seconds FROM queue WHERE run_id = ? {self._sql.for_update}",  # noqa: S608
                [run_id],
            ).fetchone()
            if row is None or row["fence"] != lease.fence:
                raise LeaseLostError(run_id)
            if row["finished_at"] is not None:
                return False
            connection.execute(
                f"UPDATE queue SET finished_at = {self._sql.now}, lease_owner = NULL, lease_until = NULL "  # noqa: S608
                "WHERE run_id = ?",
                [run_id],
            )
            kept = None if error is None else storable(shorten(error))
            connection.execute(
                "UPDATE runs SET status = ?, error = ?, finished_at = ?, seconds = seconds + ?, fence = fence + 1, "
                "progress = CASE WHEN ? THEN 1.0 ELSE progress END, "
                "unanswered_pico_usd = coalesce(?, unanswered_pico_usd) WHERE id = ?",
                [
                    status,
                    kept,
                    now_text(),
                    row["seconds"] or 0.0,
                    status is RunStatus.COMPLETED,
                    to_pico(unanswered_usd),
                    run_id,
                ],
            )
            queued = queue_row(row)
            said = {"status": status.value, "error": kept, **progress_of(queued.tally, queued.trials)}
            add_event(connection, run_id, END_EVENTS[status], said)
        return True


def _use_scorers(connection: Connection, evaluations: Mapping[int, Evaluation]) -> None:
    """Name the scorer versions in force; scores of others are kept."""
    for evaluation_id, item in evaluations.items():
        versions = to_json({scorer.name: scorer.version for scorer in item.scorers})
        connection.execute("UPDATE evaluations SET scorers = ? WHERE id = ?", [versions, evaluation_id])


def _evaluation_ids(connection: Connection, run_id: str) -> list[int]:
    rows = connection.execute("SELECT id FROM evaluations WHERE run_id = ? ORDER BY position", [run_id])
    return [row[0] for row in rows]
