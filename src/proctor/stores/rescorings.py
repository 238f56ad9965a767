"""Runs that are scored again in the background: taken on, carried out by one worker at a time, ended once.

What happens to one is among the events of its run, as `rescoring`. Of one run they are carried out one after the other.
Rows are locked in one order everywhere: the rescoring, then its run.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from proctor.domain.documents.rescored import Rescored
from proctor.domain.documents.rescoring import RescoreRequest, RescoringStatus
from proctor.domain.errors import NotFoundError, RunError
from proctor.domain.text import shorten, storable
from proctor.stores.accounts.budgets import Spender, reserve_budget, settle_reservation
from proctor.stores.codec import ceil_pico, from_pico
from proctor.stores.connection import Connection, Row, SqlDialect
from proctor.stores.database import Database
from proctor.stores.events import add_event
from proctor.stores.idempotency import RequestKey, reserve
from proctor.stores.leases import CHUNK_LEASE_SECONDS, LeaseLostError, is_alive, this_process
from proctor.stores.project_turns import SERVED_AT, give_turn, turns_of
from proctor.stores.saved_plans import new_ordered_id
from proctor.stores.scoping import check_run, scope_filter
from proctor.stores.scores import ScoreStore

PREFIX = "r-"
RESCORING = "rescoring"
"""The event of a run that says how far one of its rescorings is."""
MAX_LOST = 3
"""One whose worker was lost so often is not tried again."""
LAST: Mapping[RescoringStatus, str] = {"completed": "finished", "failed": "failed", "cancelled": "cancelled"}
"""Its last event, by how it ended."""
_COLUMNS = (
    "id, run_id, project, request, started_by, state, is_wanted, done, total, fault, error, result, "
    "unanswered_pico_usd, created_at, ended_at, fence, lost_leases"
)


class StoredRequest(Struct, frozen=True):
    """What was asked for, and what a worker elsewhere has to know of it."""

    asked: RescoreRequest
    folder: str
    context: dict[str, str] = {}
    """For logs."""
    asks_judges: bool = False
    cost_before_usd: str = "0"
    """What judges of the run had cost when it was begun; earlier ones of the run have ended by then."""


class RescoringRow(Struct, frozen=True):
    id: str
    run_id: str
    project: str
    request: StoredRequest
    started_by: str | None
    state: RescoringStatus
    is_wanted: bool
    done: int
    total: int
    fault: str | None
    error: str | None
    result: Rescored | None
    unanswered_usd: Decimal
    created_at: float
    ended_at: float | None
    fence: int
    lost_leases: int

    @property
    def lease(self) -> RescoringLease:
        return RescoringLease(self.id, self.fence)


class RescoringLease(Struct, frozen=True):
    """This process's hold on a rescoring."""

    rescoring_id: str
    fence: int

    def check(self, connection: Connection, dialect: SqlDialect) -> None:
        """Within a transaction: it is this process's until the transaction ends, or LeaseLostError."""
        row = connection.execute(
            f"SELECT fence, state FROM rescorings WHERE id = ? {dialect.for_share}",  # noqa: S608 - our own words
            [self.rescoring_id],
        ).fetchone()
        if row is None or (row[0], row[1]) != (self.fence, "running"):
            raise LeaseLostError(self.rescoring_id, "Rescoring")


class RescoringStore:
    """What whoever asked for it can see of it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(
        self,
        run_id: str,
        stored: StoredRequest,
        *,
        started_by: str,
        request: RequestKey | None = None,
        spender: Spender | None = None,
        cap_usd: Decimal | None = None,
    ) -> str:
        """Gives its id, or that of the rescoring that an equal request made before; `spender` reserves the cap."""
        check_run(self._database, run_id)
        rescoring_id, owner = new_ordered_id(PREFIX), self._database.scope.owner
        with self._database.connection() as connection, connection.transaction(is_short=True):
            if request is not None and (first := reserve(connection, owner, request, rescoring_id)) != rescoring_id:
                return first
            if spender is not None:
                reserve_budget(connection, self._database.dialect, spender, rescoring_id, cap_usd)
            connection.execute(
                "INSERT INTO rescorings (id, run_id, request, started_by, created_at, project) "
                "SELECT ?, id, ?, ?, ?, project FROM runs WHERE id = ?",
                [rescoring_id, _encoded(stored), started_by, time.time(), run_id],
            )
            _tell(connection, run_id, rescoring_id, "accepted", {**stored.context})
        return rescoring_id

    def get(self, run_id: str, rescoring_id: str) -> RescoringRow:
        mine = scope_filter(self._database, "rescorings")
        query = f"SELECT {_COLUMNS} FROM rescorings WHERE id = ? AND run_id = ?{mine.sql}"  # noqa: S608 - our own words
        with self._database.connection() as connection:
            row = connection.execute(query, [rescoring_id, run_id, *mine.values]).fetchone()
        if row is None:
            raise NotFoundError(f"Run {run_id} has no rescoring {rescoring_id!r}.")
        return _rescoring(row)

    def of_run(self, run_id: str, limit: int = 100) -> list[RescoringRow]:
        """The newest first."""
        mine = scope_filter(self._database, "rescorings")
        query = f"SELECT {_COLUMNS} FROM rescorings WHERE run_id = ?{mine.sql} ORDER BY id DESC LIMIT ?"  # noqa: S608
        with self._database.connection() as connection:
            return [_rescoring(row) for row in connection.execute(query, [run_id, *mine.values, limit])]

    def refuse_open(self, run_id: str) -> None:
        """Raises RunError while the run is being scored again, or is about to be."""
        mine = scope_filter(self._database, "rescorings")
        query = f"SELECT id FROM rescorings WHERE run_id = ? AND ended_at IS NULL{mine.sql} ORDER BY id LIMIT 1"  # noqa: S608
        with self._database.connection() as connection:
            row = connection.execute(query, [run_id, *mine.values]).fetchone()
        if row is not None:
            raise RunError(f"Run {run_id} is being scored again ({row[0]}). Wait for it, or cancel that.")

    def cancel(self, run_id: str, rescoring_id: str) -> None:
        """One that nobody works on ends at once, another one within seconds; RunError where it has ended already."""
        row = self.get(run_id, rescoring_id)
        # A worker that was told to end may have asked judges, and left it to others.
        spent = RescoringQueue(self._database).spent_usd(row) if row.fence else Decimal(0)
        with self._database.connection() as connection, connection.transaction(is_short=True):
            changed = connection.execute(
                "UPDATE rescorings SET is_wanted = ? WHERE id = ? AND ended_at IS NULL RETURNING state",
                [False, row.id],
            ).fetchone()
            if changed is None:
                raise RunError(f"The rescoring {row.id} has already ended ({row.state}).")
            if changed[0] == "queued":
                _end(connection, row, "cancelled", None, None, spent)


class RescoringQueue:
    """What those who carry them out do, for every project."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._sql = database.dialect

    def waiting(self, limit: int) -> list[str]:
        """Those that nobody works on: of projects in turn, of each run the one that waits longest."""
        query = (
            "SELECT id, row_number() OVER (PARTITION BY mine.project ORDER BY id) AS turn "  # noqa: S608 - our own words
            f"FROM rescorings AS mine {turns_of('mine')} WHERE {self._is_due} ORDER BY turn, {SERVED_AT}, id LIMIT ?"
        )
        with self._database.connection() as connection:
            return [row[0] for row in connection.execute(query, [limit])]

    @property
    def _is_due(self) -> str:
        """In SQL, of `mine`: nobody works on it, nor is to work on another one of the run first."""
        return (
            f"mine.ended_at IS NULL AND (mine.state = 'queued' OR mine.lease_until < {self._sql.now}) "  # noqa: S608
            "AND NOT EXISTS (SELECT 1 FROM rescorings AS earlier "
            "WHERE earlier.run_id = mine.run_id AND earlier.ended_at IS NULL AND earlier.id < mine.id)"
        )

    def lease(self, rescoring_id: str) -> RescoringRow | None:
        """It is this process's now; None where it is not due: another has it, it has ended, or nobody may try again."""
        due = f"SELECT {_COLUMNS} FROM rescorings AS mine WHERE mine.id = ? AND {self._is_due}"  # noqa: S608 - our own
        with self._database.connection() as connection:
            row = connection.execute(due, [rescoring_id]).fetchone()
        if row is None:
            return None
        request = self._begun(_rescoring(row))
        with self._database.connection() as connection, connection.transaction(is_short=True):
            row = connection.execute(f"{due} {self._sql.for_update}", [rescoring_id]).fetchone()
            if row is None:
                return None
            found = _rescoring(row)
            lost = found.lost_leases + (found.state == "running")
            if lost >= MAX_LOST or not found.is_wanted:
                state: RescoringStatus = "failed" if found.is_wanted else "cancelled"
                why = f" The last fault: {found.fault}" if found.fault else ""
                said = f"{lost} workers in a row were lost with it.{why}" if found.is_wanted else None
                # What it may have cost counts as spent: nobody knows better.
                _end(connection, found, state, said, None, None)
                return None
            taken = connection.execute(
                "UPDATE rescorings SET state = 'running', fence = fence + 1, lost_leases = ?, lease_owner = ?, "  # noqa: S608
                f"lease_until = {self._sql.now} + ?, request = ? WHERE id = ? RETURNING {_COLUMNS}",
                [
                    lost,
                    this_process(),
                    CHUNK_LEASE_SECONDS,
                    _encoded(found.request if found.fence else request),
                    found.id,
                ],
            ).fetchone()
            _tell(connection, found.run_id, found.id, "started", {"lost_leases": lost})
            give_turn(connection, self._sql, found.project)
        return _rescoring(taken)

    def _begun(self, row: RescoringRow) -> StoredRequest:
        """The request, with what judges of the run have cost before it; read outside of the short transaction."""
        if row.fence or not row.request.asks_judges:
            return row.request
        before = ScoreStore(self._database).spent_on_judges(row.run_id)
        return replace(row.request, cost_before_usd=str(before))

    def renew(self, row: RescoringRow, done: int, total: int, fault: str | None) -> bool:
        """Keep it and say how far it is; gives whether it is still wanted, and raises LeaseLostError."""
        with self._database.connection() as connection, connection.transaction(is_short=True):
            before = connection.execute(
                f"SELECT done, total, fault, is_wanted FROM rescorings WHERE id = ? AND fence = ? "  # noqa: S608
                f"AND state = 'running' {self._sql.for_update}",
                [row.id, row.fence],
            ).fetchone()
            if before is None:
                raise LeaseLostError(row.id, "Rescoring")
            kept = None if fault is None else storable(shorten(fault))
            connection.execute(
                f"UPDATE rescorings SET lease_until = {self._sql.now} + ?, done = ?, total = ?, fault = ? "  # noqa: S608
                "WHERE id = ?",
                [CHUNK_LEASE_SECONDS, done, total, kept, row.id],
            )
            if (before[0], before[1], before[2]) != (done, total, kept):
                _tell(connection, row.run_id, row.id, "progress", {"done": done, "total": total, "fault": kept})
        return bool(before[3])

    def release(self, row: RescoringRow) -> None:
        """Leave it to others, or to oneself later."""
        with self._database.connection() as connection:
            connection.execute(
                "UPDATE rescorings SET state = 'queued', lease_owner = NULL, lease_until = NULL "
                "WHERE id = ? AND fence = ? AND state = 'running'",
                [row.id, row.fence],
            )

    def end(
        self,
        row: RescoringRow,
        state: RescoringStatus,
        *,
        error: str | None = None,
        result: Rescored | None = None,
        spent_usd: Decimal = Decimal(0),
    ) -> None:
        """It has ended, and of what was reserved for it so much was spent; LeaseLostError where it is another's."""
        with self._database.connection() as connection, connection.transaction(is_short=True):
            RescoringLease(row.id, row.fence).check(connection, self._sql)
            _end(connection, row, state, error, result, spent_usd)

    def keep_unanswered(self, row: RescoringRow, amount_usd: Decimal) -> None:
        """Write down what may be spent without an answer; when it returns, a crash cannot make that forgotten."""
        with self._database.connection() as connection:
            changed = connection.execute(
                "UPDATE rescorings SET unanswered_pico_usd = ? WHERE id = ? AND fence = ? AND state = 'running'",
                [ceil_pico(amount_usd), row.id, row.fence],
            )
        if changed.rowcount == 0:
            raise LeaseLostError(row.id, "Rescoring")

    def recorded_usd(self, row: RescoringRow) -> Decimal:
        """What the replies of its judges that are recorded have cost."""
        before = Decimal(row.request.cost_before_usd)
        return max(Decimal(0), ScoreStore(self._database).spent_on_judges(row.run_id) - before)

    def spent_usd(self, row: RescoringRow) -> Decimal:
        """What it has cost, as far as anybody knows: what may have been spent without an answer is part of it."""
        return self.recorded_usd(row) + row.unanswered_usd if row.request.asks_judges else Decimal(0)

    def free_lost(self) -> int:
        """Give up the leases of processes of this machine that are gone; gives how many."""
        query = "SELECT id, fence, lease_owner FROM rescorings WHERE ended_at IS NULL AND lease_owner IS NOT NULL"
        freed = 0
        with self._database.connection() as connection:
            for row in connection.execute(query).fetchall():
                if not is_alive(row["lease_owner"], is_current=True):
                    freed += connection.execute(
                        "UPDATE rescorings SET lease_until = 0 WHERE id = ? AND fence = ? AND lease_until > 0",
                        [row["id"], row["fence"]],
                    ).rowcount
        return freed


def _encoded(stored: StoredRequest) -> str:
    return msgspec.json.encode(stored).decode()


def _tell(connection: Connection, run_id: str, rescoring_id: str, event: str, said: Mapping[str, Any]) -> None:
    add_event(connection, run_id, RESCORING, {"rescoring_id": rescoring_id, "event": event, **said})


def _end(
    connection: Connection,
    row: RescoringRow,
    state: RescoringStatus,
    error: str | None,
    result: Rescored | None,
    spent_usd: Decimal | None,
) -> None:
    """Within a transaction; without a sum, all that was reserved counts as spent."""
    kept = None if error is None else storable(shorten(error, 2_000))
    connection.execute(
        "UPDATE rescorings SET state = ?, error = ?, result = ?, ended_at = ?, lease_owner = NULL, lease_until = NULL, "
        "done = CASE WHEN ? THEN total ELSE done END WHERE id = ?",
        [
            state, kept, None if result is None else storable(msgspec.json.encode(result).decode()), time.time(),
            state == "completed", row.id,
        ],
    )  # fmt: skip
    settle_reservation(connection, row.id, spent_usd)
    _tell(connection, row.run_id, row.id, LAST[state], {"error": kept})


def _rescoring(row: Row) -> RescoringRow:
    return RescoringRow(
        id=row["id"],
        run_id=row["run_id"],
        project=row["project"],
        request=msgspec.json.decode(row["request"], type=StoredRequest),
        started_by=row["started_by"],
        state=row["state"],
        is_wanted=bool(row["is_wanted"]),
        done=row["done"],
        total=row["total"],
        fault=row["fault"],
        error=row["error"],
        result=None if row["result"] is None else msgspec.json.decode(row["result"], type=Rescored),
        unanswered_usd=from_pico(row["unanswered_pico_usd"]) or Decimal(0),
        created_at=row["created_at"],
        ended_at=row["ended_at"],
        fence=row["fence"],
        lost_leases=row["lost_leases"],
    )
