"""Programs that were handed in over the API and wait to be marked; then they are submissions like all others."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import orjson
from msgspec import Struct

from proctor.domain.errors import NotFoundError
from proctor.domain.text import shorten, storable
from proctor.stores.connection import Row
from proctor.stores.database import Database
from proctor.stores.idempotency import RequestKey, reserve
from proctor.stores.leases import LeaseLostError
from proctor.stores.new_runs import new_run_id
from proctor.stores.project_turns import SERVED_AT, give_turn, turns_of
from proctor.stores.scoping import scope_filter
from proctor.stores.stored_bytes import refuse_full_storage
from proctor.stores.submissions import PREFIX, insert_submission

MARK_LEASE_SECONDS = 20.0
MAX_LOST = 3
"""A program whose marking ended with its worker so often is not tried again."""
_COLUMNS = (
    "id, project, name, problem, artifact, form, refused, is_measuring, author, state, error, created_at, fence, "
    "lost_leases"
)


class NewProgram(Struct, frozen=True, kw_only=True):
    name: str
    problem: str
    artifact: str
    """Its files, as a zip."""
    size_bytes: int
    """Of that zip."""
    form: str
    refused: Mapping[str, str]
    is_measuring: bool
    author: str


class QueuedProgram(Struct, frozen=True):
    """A program that is not marked yet; `state` is queued, running or failed."""

    id: str
    project: str
    name: str
    problem: str
    artifact: str
    form: str
    refused: Mapping[str, str]
    is_measuring: bool
    author: str
    state: str
    error: str | None
    created_at: float
    fence: int
    lost_leases: int


class SubmissionQueue:
    """What whoever handed it in can see of it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, program: NewProgram, request: RequestKey | None = None) -> str:
        """Gives its id, or that of the program that an equal request handed in before.

        Raises BudgetError where the project may not keep so much more.
        """
        program_id, owner = f"{PREFIX}{new_run_id()}", self._database.scope.owner
        with self._database.connection() as connection, connection.transaction():
            if request is not None:
                earlier = reserve(connection, owner, request, program_id)
                if earlier != program_id:
                    return earlier
            refuse_full_storage(connection, self._database.dialect, owner, program.size_bytes)
            connection.execute(
                "INSERT INTO submission_queue (id, project, name, problem, artifact, form, refused, is_measuring, "
                "author, created_at, size_bytes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    program_id, owner, storable(program.name), program.problem, program.artifact, program.form,
                    orjson.dumps(dict(program.refused)).decode(), program.is_measuring, program.author, time.time(),
                    program.size_bytes,
                ],
            )  # fmt: skip
        return program_id

    def get(self, program_id: str) -> QueuedProgram:
        mine = scope_filter(self._database, "submission_queue")
        query = f"SELECT {_COLUMNS} FROM submission_queue WHERE id = ?{mine.sql}"  # noqa: S608 - our own words
        with self._database.connection() as connection:
            row = connection.execute(query, [program_id, *mine.values]).fetchone()
        if row is None:
            raise NotFoundError(f"No submission {program_id!r}.")
        return _program(row)

    def listed(self, *, after: str | None = None, limit: int = 50) -> list[QueuedProgram]:
        """Those that wait, are being marked or could not be, newest first; `after` is the last one seen."""
        mine = scope_filter(self._database, "submission_queue")
        before, values = "", []
        if after is not None:
            last = self.get(after)
            before, values = " AND (created_at, id) < (?, ?)", [last.created_at, last.id]
        query = (
            f"SELECT {_COLUMNS} FROM submission_queue WHERE 1 = 1{mine.sql}{before} "  # noqa: S608 - our own words
            "ORDER BY created_at DESC, id DESC LIMIT ?"
        )
        with self._database.connection() as connection:
            return [_program(row) for row in connection.execute(query, [*mine.values, *values, limit])]

    def delete(self, program_id: str) -> None:
        """Whoever marks it finds that it is gone, and writes nothing."""
        self.get(program_id)
        mine = scope_filter(self._database, "submission_queue")
        with self._database.connection() as connection:
            connection.execute(
                f"DELETE FROM submission_queue WHERE id = ?{mine.sql}",  # noqa: S608 - our own words
                [program_id, *mine.values],
            )


class MarkingLeases:
    """What those who mark programs do, for every project."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def waiting(self, limit: int) -> list[str]:
        """Those that nobody works on: of projects in turn, of each the one that waits longest first."""
        now = self._database.dialect.now
        query = (
            "SELECT id, row_number() OVER (PARTITION BY submission_queue.project ORDER BY created_at, id) AS turn "  # noqa: S608
            f"FROM submission_queue {turns_of('submission_queue')} WHERE state = 'queued' OR (state = 'running' "
            f"AND lease_until < {now}) ORDER BY turn, {SERVED_AT}, created_at, id LIMIT ?"
        )
        with self._database.connection() as connection:
            return [row[0] for row in connection.execute(query, [limit])]

    def lease(self, program_id: str, owner: str) -> QueuedProgram | None:
        """The program, which is this process's now; None where somebody else has it, or nobody may try again."""
        dialect = self._database.dialect
        query = (
            f"SELECT {_COLUMNS}, lease_until < {dialect.now} AS is_lost FROM submission_queue "  # noqa: S608 - our own
            f"WHERE id = ? {dialect.for_update}"
        )
        with self._database.connection() as connection, connection.transaction():
            row = connection.execute(query, [program_id]).fetchone()
            if row is None or not (row["state"] == "queued" or (row["state"] == "running" and row["is_lost"])):
                return None
            lost = row["lost_leases"] + (row["state"] == "running")
            if lost >= MAX_LOST:
                connection.execute(
                    "UPDATE submission_queue SET state = 'failed', error = ?, fence = fence + 1, lost_leases = ? "
                    "WHERE id = ?",
                    [f"{lost} workers ended while they marked it.", lost, program_id],
                )
                return None
            connection.execute(
                "UPDATE submission_queue SET state = 'running', fence = fence + 1, lost_leases = ?, "  # noqa: S608 - our own
                f"lease_owner = ?, lease_until = {dialect.now} + ? WHERE id = ?",
                [lost, owner, MARK_LEASE_SECONDS, program_id],
            )
            taken = connection.execute(
                f"SELECT {_COLUMNS} FROM submission_queue WHERE id = ?",  # noqa: S608 - our own
                [program_id],
            ).fetchone()
            give_turn(connection, dialect, taken["project"])
        return _program(taken)

    def renew(self, program: QueuedProgram) -> bool:
        """False when it is not this process's any more."""
        now = self._database.dialect.now
        with self._database.connection() as connection:
            changed = connection.execute(
                f"UPDATE submission_queue SET lease_until = {now} + ? WHERE id = ? AND fence = ? "  # noqa: S608 - our own
                "AND state = 'running'",
                [MARK_LEASE_SECONDS, program.id, program.fence],
            )
        return changed.rowcount > 0

    def release(self, program: QueuedProgram) -> None:
        """Leave it to others, or to oneself later."""
        self._end(program, "queued", None)

    def fail(self, program: QueuedProgram, error: str) -> None:
        self._end(program, "failed", storable(shorten(error, 2_000)))

    def _end(self, program: QueuedProgram, state: str, error: str | None) -> None:
        with self._database.connection() as connection:
            connection.execute(
                "UPDATE submission_queue SET state = ?, error = ?, lease_until = NULL WHERE id = ? AND fence = ? "
                "AND state = 'running'",
                [state, error, program.id, program.fence],
            )

    def complete(
        self, program: QueuedProgram, problem: tuple[str, str], revision: str, details: Mapping[str, Any]
    ) -> None:
        """It is a submission from now on; raises LeaseLostError where it is not this process's any more."""
        with self._database.connection() as connection, connection.transaction():
            gone = connection.execute(
                "DELETE FROM submission_queue WHERE id = ? AND fence = ? AND state = 'running'",
                [program.id, program.fence],
            )
            if not gone.rowcount:
                raise LeaseLostError(program.id, "Submission")
            insert_submission(
                connection, program.project, (program.id, program.name), problem, None, revision, details
            )  # fmt: skip

    def delete_failed(self, older_seconds: float) -> int:
        """Forget those that could not be marked and that are so old; gives how many."""
        with self._database.connection() as connection:
            return connection.execute(
                "DELETE FROM submission_queue WHERE state = 'failed' AND created_at < ?", [time.time() - older_seconds]
            ).rowcount


def _program(row: Row) -> QueuedProgram:
    return QueuedProgram(
        row["id"], row["project"], row["name"], row["problem"], row["artifact"], row["form"],
        orjson.loads(row["refused"]), bool(row["is_measuring"]), row["author"], row["state"], row["error"],
        row["created_at"], row["fence"], row["lost_leases"],
    )  # fmt: skip
