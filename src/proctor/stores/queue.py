"""Runs that workers carry out: accepted, prepared and finished, each step by whoever holds its lease.

Rows are locked in one order everywhere: a chunk, its run's row in the queue, the run itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from proctor.domain.chunk import ChunkState, Priority, TrialTally
from proctor.domain.errors import RunError
from proctor.domain.log_context import current_context
from proctor.domain.run import RunStatus
from proctor.domain.text import shorten, storable
from proctor.domain.tracing import trace_context
from proctor.stores.accounts.budgets import Spender, reserve_budget, spender_of
from proctor.stores.codec import from_pico, to_json
from proctor.stores.connection import Connection, Row
from proctor.stores.database import Database
from proctor.stores.events import add_event
from proctor.stores.idempotency import RequestKey, reserve
from proctor.stores.leases import is_alive, owner_text
from proctor.stores.new_runs import insert_run, new_run_id
from proctor.stores.project_turns import SERVED_AT, turns_of
from proctor.stores.scoping import check_run, of_run
from proctor.stores.statements import places

if TYPE_CHECKING:
    from proctor.domain.plan import Plan

END_EVENTS = {RunStatus.COMPLETED: "finished", RunStatus.FAILED: "failed", RunStatus.CANCELLED: "cancelled"}
"""The last event of a run, by how it ended."""
OPEN_RUN = "queue.finished_at IS NULL AND queue.stop_reason IS NULL AND runs.status IN ('queued', 'running')"
"""What holds of a run of which chunks may be begun."""


class QueueRow(Struct, frozen=True):
    run_id: str
    priority: Priority
    is_prepared: bool
    is_finished: bool
    chunks_open: int
    trials: int
    tally: TrialTally
    stop_reason: str | None
    """Why nothing more is asked, although not all has been."""
    given_up: Mapping[str, str]
    """The models and judges that were given up, and why."""
    taken_usd: Decimal
    """Spent, or reserved by chunks that are being executed."""
    content: Mapping[str, str]
    """The files that the plan needs: path -> artifact."""
    looked: int
    lost_leases: int
    seconds: float
    """Since the first chunk was begun, by the database's clock."""
    fence: int


class QueueStore:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._sql = database.dialect

    # One run

    def accept(
        self,
        plan: Plan,
        folder: Path,
        data: Path | None,
        *,
        priority: Priority = Priority.NORMAL,
        content: Mapping[str, str] | None = None,
        request: RequestKey | None = None,
        spender: Spender | None = None,
        started_by: str | None = None,
        plan_id: str | None = None,
    ) -> str:
        """Write the run as queued, in one short transaction; gives its id, or that of the same request before."""
        run_id, project = new_run_id(), self._database.scope.owner
        with self._database.connection() as connection, connection.transaction(is_short=True):
            if request is not None and (first := reserve(connection, project, request, run_id)) != run_id:
                return first
            if spender is not None:
                reserve_budget(connection, self._sql, spender, run_id, plan.limits.cost_usd)
            insert_run(connection, run_id, plan, folder, data, datetime.now(UTC), project)
            if started_by is not None:
                connection.execute(
                    "UPDATE runs SET started_by = ?, plan_id = ? WHERE id = ?", [started_by, plan_id, run_id]
                )
            connection.execute(
                "INSERT INTO queue (run_id, priority, accepted_at, content) "  # noqa: S608 - our own words
                f"VALUES (?, ?, {self._sql.now}, ?)",
                [run_id, priority.rank, to_json(dict(content or {}))],
            )
            add_event(
                connection, run_id, "accepted", {"priority": priority.value, **current_context(), **trace_context()}
            )
        return run_id

    def requeue(self, run_id: str, plan: Plan, priority: Priority | None = None) -> None:
        """Let workers finish what is unfinished of a run that has ended; of one that has not, nothing is changed.

        Raises RunError while a process of its own executes it; one whose lease ran out writes nothing any more.
        """
        now = self._sql.now
        check_run(self._database, run_id)
        with self._database.connection() as connection, connection.transaction(is_short=True):
            connection.execute(
                f"INSERT INTO queue (run_id, priority, accepted_at, finished_at) VALUES (?, ?, {now}, {now}) "  # noqa: S608
                "ON CONFLICT (run_id) DO NOTHING",
                [run_id, Priority.NORMAL.rank],
            )
            changed = connection.execute(
                f"UPDATE queue SET priority = coalesce(?, priority), accepted_at = {now}, prepared_at = NULL, "  # noqa: S608
                "begun_at = NULL, finished_at = NULL, announced_at = NULL, lost_leases = 0, chunks_open = 0, "
                "tally = '{}', stop_reason = NULL, given_up = '{}', looked = 0 "
                "WHERE run_id = ? AND finished_at IS NOT NULL",
                [None if priority is None else priority.rank, run_id],
            )
            if changed.rowcount == 0:
                return
            if (spender := spender_of(connection, run_id)) is not None:
                reserve_budget(connection, self._sql, spender, run_id, plan.limits.cost_usd)
            connection.execute("DELETE FROM chunks WHERE run_id = ?", [run_id])
            self._refuse_executing(connection, run_id)
            connection.execute(
                "UPDATE runs SET status = ?, error = NULL, finished_at = NULL, progress = 0, plan = ?, "
                "fence = fence + 1, lease_owner = NULL, lease_until = NULL WHERE id = ?",
                [RunStatus.QUEUED, plan.model_dump_json(), run_id],
            )
            connection.execute(
                "UPDATE evaluations SET summary = NULL, summary_revision = NULL WHERE run_id = ?", [run_id]
            )
            add_event(connection, run_id, "accepted", {"is_again": True, **current_context(), **trace_context()})

    def _refuse_executing(self, connection: Connection, run_id: str) -> None:
        row = connection.execute(
            f"SELECT lease_owner, lease_until > {self._sql.now} AS is_current FROM runs "  # noqa: S608 - our own words
            f"WHERE id = ? {self._sql.for_update}",
            [run_id],
        ).fetchone()
        if row["lease_owner"] is not None and is_alive(row["lease_owner"], is_current=bool(row["is_current"])):
            raise RunError(f"Run {run_id} is being executed by another process ({owner_text(row['lease_owner'])}).")

    def get(self, run_id: str) -> QueueRow | None:
        """None for a run that no worker carries out."""
        mine = of_run(self._database, run_id)
        query = f"SELECT *, {self._sql.now} - begun_at AS seconds FROM queue WHERE {mine.sql}"  # noqa: S608 - our own
        with self._database.connection() as connection:
            row = connection.execute(query, mine.values).fetchone()
        return None if row is None else queue_row(row)

    def keep_raw_data(self, run_id: str, key: str) -> None:
        """Note the artifact with every response; not where the run was taken up again meanwhile."""
        with self._database.connection() as connection:
            connection.execute("UPDATE runs SET raw_data = ? WHERE id = ? AND status = 'completed'", [key, run_id])

    def without_raw_data(self, seconds: tuple[float, float], limit: int) -> list[str]:
        """Completed runs that ended so long ago, between the two, and whose artifact nobody noted; the newest first."""
        shortest, longest = seconds
        query = (
            "SELECT id FROM runs JOIN queue ON run_id = id WHERE status = 'completed' AND raw_data IS NULL "  # noqa: S608
            f"AND queue.finished_at BETWEEN {self._sql.now} - ? AND {self._sql.now} - ? "
            "ORDER BY queue.finished_at DESC LIMIT ?"
        )
        with self._database.connection() as connection:
            return [row[0] for row in connection.execute(query, [longest, shortest, limit])]

    # Nothing more is asked

    def stop(self, run_id: str, reason: str) -> None:
        """Let every worker stop with the run: what is in flight is finished and recorded; the first reason counts."""
        check_run(self._database, run_id)
        with self._database.connection() as connection:
            connection.execute(
                "UPDATE queue SET stop_reason = coalesce(stop_reason, ?) WHERE run_id = ? AND finished_at IS NULL",
                [storable(shorten(reason)), run_id],
            )
        self.drop_waiting(run_id)

    def give_up(self, run_id: str, reasons: Mapping[str, str]) -> None:
        """Nobody asks these models or judges any more."""
        check_run(self._database, run_id)
        with self._database.connection() as connection, connection.transaction(is_short=True):
            row = connection.execute(
                f"SELECT given_up FROM queue WHERE run_id = ? {self._sql.for_update}",  # noqa: S608 - our own words
                [run_id],
            ).fetchone()
            if row is not None:
                known = msgspec.json.decode(row["given_up"])
                kept = {**{name: storable(why) for name, why in reasons.items()}, **known}
                connection.execute("UPDATE queue SET given_up = ? WHERE run_id = ?", [to_json(kept), run_id])

    def drop_waiting(self, run_id: str, evaluation_ids: Sequence[int] | None = None) -> int:
        """No chunk of the run, or of these evaluations, is begun any more; leased ones are told to stop."""
        check_run(self._database, run_id)
        which = "run_id = ?"
        values: list[str | int] = [run_id, *(evaluation_ids or ())]
        if evaluation_ids is not None:
            which = f"run_id = ? AND evaluation_id IN ({places(len(evaluation_ids))})"
        with self._database.connection() as connection, connection.transaction(is_short=True):
            dropped = connection.execute(
                "UPDATE chunks SET state = ?, announced_at = NULL WHERE id IN (SELECT id FROM chunks "  # noqa: S608
                f"WHERE {which} AND state = ? ORDER BY id {self._sql.skip_locked})",
                [ChunkState.DROPPED, *values, ChunkState.WAITING],
            ).rowcount
            if dropped:
                row = connection.execute(
                    "UPDATE queue SET chunks_open = chunks_open - ?, announced_at = NULL WHERE run_id = ? "
                    "RETURNING chunks_open",
                    [dropped, run_id],
                ).fetchone()
                said = {"state": ChunkState.DROPPED.value, "chunks": dropped, "chunks_open": row[0]}
                add_event(connection, run_id, "chunk", said)
        if evaluation_ids is not None:
            with self._database.connection() as connection:
                connection.execute(
                    f"UPDATE chunks SET is_wanted = ? WHERE {which} AND state = ?",  # noqa: S608 - only placeholders
                    [False, *values, ChunkState.LEASED],
                )
        return dropped

    def look(self, run_id: str, samples: int) -> bool:
        """Claim to look whether the stop rule is met by so many samples; False when others have by as many."""
        with self._database.connection() as connection:
            changed = connection.execute(
                "UPDATE queue SET looked = ? WHERE run_id = ? AND looked < ?", [samples, run_id, samples]
            )
        return changed.rowcount > 0

    # All runs

    def to_prepare(self, limit: int = 20) -> list[str]:
        """Runs that nobody prepares, the most urgent first, and of one priority those of projects in turn."""
        return self._waiting("prepared_at IS NULL AND runs.status IN ('queued', 'running')", limit)

    def to_finish(self, limit: int = 20) -> list[str]:
        """Runs whose chunks have all ended, or that were cancelled before they had any."""
        return self._waiting(
            "((prepared_at IS NOT NULL AND chunks_open = 0) OR (prepared_at IS NULL AND runs.status = 'cancelled'))",
            limit,
        )

    def _waiting(self, which: str, limit: int) -> list[str]:
        query = (
            "SELECT run_id, row_number() OVER (PARTITION BY runs.project, priority ORDER BY accepted_at) AS turn "  # noqa: S608
            f"FROM queue JOIN runs ON runs.id = run_id {turns_of('runs')} WHERE queue.finished_at IS NULL AND {which} "
            f"AND (queue.lease_owner IS NULL OR queue.lease_until < {self._sql.now}) "
            f"ORDER BY priority DESC, turn, {SERVED_AT}, accepted_at LIMIT ?"
        )
        with self._database.connection() as connection:
            return [row[0] for row in connection.execute(query, [limit])]

    def announce(self, run_ids: Sequence[str], again_seconds: float) -> list[str]:
        """Those of the runs that a broker is to be told of now; none is named twice within `again_seconds`."""
        now = self._sql.now
        claim = (
            f"UPDATE queue SET announced_at = {now} WHERE run_id = ? "  # noqa: S608 - our own words
            f"AND (announced_at IS NULL OR announced_at <= {now} - ?) RETURNING run_id"
        )
        with self._database.connection() as connection:
            return [one for one in run_ids if connection.execute(claim, [one, again_seconds]).fetchone()]

    def stopped(self) -> list[str]:
        """Runs that were stopped or cancelled and have chunks that wait."""
        query = (
            "SELECT run_id FROM queue JOIN runs ON runs.id = run_id WHERE queue.finished_at IS NULL "
            "AND chunks_open > 0 AND (stop_reason IS NOT NULL OR runs.status NOT IN ('queued', 'running'))"
        )
        with self._database.connection() as connection:
            return [row[0] for row in connection.execute(query)]

    def free_lost_steps(self) -> int:
        """Give up the leases of processes of this machine that are gone; gives how many."""
        query = "SELECT run_id, fence, lease_owner FROM queue WHERE finished_at IS NULL AND lease_owner IS NOT NULL"
        freed = 0
        with self._database.connection() as connection:
            for row in connection.execute(query).fetchall():
                if not is_alive(row["lease_owner"], is_current=True):
                    freed += connection.execute(
                        "UPDATE queue SET lease_owner = NULL, lease_until = NULL, lost_leases = lost_leases + 1 "
                        "WHERE run_id = ? AND fence = ? AND lease_owner IS NOT NULL",
                        [row["run_id"], row["fence"]],
                    ).rowcount
        return freed


def queue_row(row: Row) -> QueueRow:
    return QueueRow(
        run_id=row["run_id"],
        priority=Priority.of_rank(row["priority"]),
        is_prepared=row["prepared_at"] is not None,
        is_finished=row["finished_at"] is not None,
        chunks_open=row["chunks_open"],
        trials=row["trials"],
        tally=msgspec.json.decode(row["tally"], type=TrialTally),
        stop_reason=row["stop_reason"],
        given_up=msgspec.json.decode(row["given_up"]),
        taken_usd=from_pico(row["taken_pico_usd"]) or Decimal(0),
        content=msgspec.json.decode(row["content"]),
        looked=row["looked"],
        lost_leases=row["lost_leases"],
        seconds=row["seconds"] or 0.0,
        fence=row["fence"],
    )
