"""Batches that were handed in: written before they are, kept until their answers are recorded."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from msgspec import Struct

from proctor.domain.errors import NotFoundError
from proctor.domain.scope import EVERYTHING
from proctor.stores.codec import from_pico, to_pico
from proctor.stores.connection import Connection, Row
from proctor.stores.database import Database
from proctor.stores.scoping import Condition
from proctor.stores.statements import places

MEMBER_COLUMNS = ("batch_id", "trial_id", "attempt", "epoch", "position")
PLACES = 500


class BatchMember(Struct, frozen=True):
    """A trial in a batch, and where its sample is found again."""

    trial_id: str
    attempt: int
    epoch: int
    position: int


class StoredBatch(Struct, frozen=True):
    id: int
    evaluation_id: int
    token: str
    remote_id: str | None
    """The provider's name for it; None until it is known that the provider has it."""
    requests: int
    reserved_usd: Decimal
    created_at: float


class BatchStore:
    """What a run knows of its batches."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def announce(
        self, evaluation_id: int, token: str, members: Sequence[BatchMember], reserved: Decimal
    ) -> StoredBatch:
        """Write down what is about to be handed in."""
        now = time.time()
        with self._database.connection() as connection, connection.transaction():
            self._check(connection, evaluation_id)
            batch_id = connection.execute(
                "INSERT INTO batches (evaluation_id, token, requests, reserved_pico_usd, created_at) "
                "VALUES (?, ?, ?, ?, ?) RETURNING id",
                [evaluation_id, token, len(members), to_pico(reserved), now],
            ).fetchone()[0]
            rows: list[tuple[Any, ...]] = [
                (batch_id, member.trial_id, member.attempt, member.epoch, member.position) for member in members
            ]
            connection.insert("batch_trials", MEMBER_COLUMNS, rows)
        return StoredBatch(batch_id, evaluation_id, token, None, len(members), reserved, now)

    def handed_in(self, batch_id: int, remote_id: str) -> None:
        with self._database.connection() as connection:
            mine = self._of_batch(batch_id)
            connection.execute(f"UPDATE batches SET remote_id = ? WHERE {mine.sql}", [remote_id, *mine.values])  # noqa: S608

    def forget(self, batch_id: int) -> None:
        """The provider never had it."""
        with self._database.connection() as connection:
            mine = self._of_batch(batch_id)
            connection.execute(f"DELETE FROM batches WHERE {mine.sql}", mine.values)  # noqa: S608 - our own

    def end(self, batch_id: int, ended_as: str) -> None:
        """Every answer of it is recorded."""
        with self._database.connection() as connection, connection.transaction():
            mine = self._of_batch(batch_id)
            ended = f"UPDATE batches SET ended_as = ? WHERE {mine.sql}"  # noqa: S608 - our own
            if connection.execute(ended, [ended_as, *mine.values]).rowcount:
                connection.execute("DELETE FROM batch_trials WHERE batch_id = ?", [batch_id])

    def open_batches(self, evaluation_id: int) -> list[StoredBatch]:
        """Those whose answers are not all recorded, oldest first."""
        mine = self._in_scope("evaluation_id")
        query = f"SELECT * FROM batches WHERE evaluation_id = ? AND ended_as IS NULL{mine.sql} ORDER BY id"  # noqa: S608
        with self._database.connection() as connection:
            rows = connection.execute(query, [evaluation_id, *mine.values]).fetchall()
        return [_batch(row) for row in rows]

    def remote_ids(self) -> set[str]:
        """Every batch that any run of this database knows by its name, whoever's it is: all others are nobody's."""
        with self._database.at_scope(EVERYTHING).connection() as connection:
            rows = connection.execute("SELECT remote_id FROM batches WHERE remote_id IS NOT NULL").fetchall()
        return {row["remote_id"] for row in rows}

    def trial_ids(self, batch_id: int) -> set[str]:
        mine = self._trials_of_batch(batch_id)
        with self._database.connection() as connection:
            query = f"SELECT trial_id FROM batch_trials WHERE {mine.sql}"  # noqa: S608 - our own
            rows = connection.execute(query, mine.values).fetchall()
        return {row["trial_id"] for row in rows}

    def members(self, batch_id: int, trial_ids: Sequence[str]) -> Mapping[str, BatchMember]:
        """Those of the trials that are in the batch."""
        found: dict[str, BatchMember] = {}
        mine = self._trials_of_batch(batch_id)
        with self._database.connection() as connection:
            for start in range(0, len(trial_ids), PLACES):
                some = trial_ids[start : start + PLACES]
                rows = connection.execute(
                    f"SELECT * FROM batch_trials WHERE {mine.sql} AND trial_id IN ({places(len(some))})",  # noqa: S608
                    [*mine.values, *some],
                )
                for row in rows:
                    found[row["trial_id"]] = BatchMember(row["trial_id"], row["attempt"], row["epoch"], row["position"])
        return found

    def _in_scope(self, evaluation_id: str) -> Condition:
        """What follows a WHERE: that the evaluation in this column may be seen."""
        project = self._database.scope.project
        if project is None:
            return Condition("", ())
        return Condition(f" AND {evaluation_id} IN (SELECT id FROM evaluations WHERE project = ?)", (project,))  # noqa: S608

    def _of_batch(self, batch_id: int) -> Condition:
        scope = self._in_scope("evaluation_id")
        return Condition(f"id = ?{scope.sql}", (batch_id, *scope.values))

    def _trials_of_batch(self, batch_id: int) -> Condition:
        mine = self._of_batch(batch_id)
        return Condition(f"batch_id = (SELECT id FROM batches WHERE {mine.sql})", mine.values)  # noqa: S608 - our own

    def _check(self, connection: Connection, evaluation_id: int) -> None:
        scope = self._in_scope("id")
        query = f"SELECT 1 FROM evaluations WHERE id = ?{scope.sql}"  # noqa: S608 - our own
        if connection.execute(query, [evaluation_id, *scope.values]).fetchone() is None:
            raise NotFoundError(f"There is no evaluation {evaluation_id}.")


def _batch(row: Row) -> StoredBatch:
    return StoredBatch(
        id=row["id"],
        evaluation_id=row["evaluation_id"],
        token=row["token"],
        remote_id=row["remote_id"],
        requests=row["requests"],
        reserved_usd=from_pico(row["reserved_pico_usd"]) or Decimal(0),
        created_at=row["created_at"],
    )
