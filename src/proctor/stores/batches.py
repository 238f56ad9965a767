"""Batches that were handed in: written before they are, kept until their answers are recorded."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from msgspec import Struct

from proctor.stores.codec import from_pico, to_pico
from proctor.stores.connection import Row
from proctor.stores.database import Database
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
            connection.execute("UPDATE batches SET remote_id = ? WHERE id = ?", [remote_id, batch_id])

    def forget(self, batch_id: int) -> None:
        """The provider never had it."""
        with self._database.connection() as connection:
            connection.execute("DELETE FROM batches WHERE id = ?", [batch_id])

    def end(self, batch_id: int, ended_as: str) -> None:
        """Every answer of it is recorded."""
        with self._database.connection() as connection, connection.transaction():
            connection.execute("UPDATE batches SET ended_as = ? WHERE id = ?", [ended_as, batch_id])
            connection.execute("DELETE FROM batch_trials WHERE batch_id = ?", [batch_id])

    def open_batches(self, evaluation_id: int) -> list[StoredBatch]:
        """Those whose answers are not all recorded, oldest first."""
        with self._database.connection() as connection:
            rows = connection.execute(
                "SELECT * FROM batches WHERE evaluation_id = ? AND ended_as IS NULL ORDER BY id", [evaluation_id]
            ).fetchall()
        return [_batch(row) for row in rows]

    def remote_ids(self) -> set[str]:
        """Every batch that any run of this database knows by its name."""
        with self._database.connection() as connection:
            rows = connection.execute("SELECT remote_id FROM batches WHERE remote_id IS NOT NULL").fetchall()
        return {row["remote_id"] for row in rows}

    def trial_ids(self, batch_id: int) -> set[str]:
        with self._database.connection() as connection:
            rows = connection.execute("SELECT trial_id FROM batch_trials WHERE batch_id = ?", [batch_id]).fetchall()
        return {row["trial_id"] for row in rows}

    def members(self, batch_id: int, trial_ids: Sequence[str]) -> Mapping[str, BatchMember]:
        """Those of the trials that are in the batch."""
        found: dict[str, BatchMember] = {}
        with self._database.connection() as connection:
            for start in range(0, len(trial_ids), PLACES):
                some = trial_ids[start : start + PLACES]
                rows = connection.execute(
                    f"SELECT * FROM batch_trials WHERE batch_id = ? AND trial_id IN ({places(len(some))})",  # noqa: S608
                    [batch_id, *some],
                )
                for row in rows:
                    found[row["trial_id"]] = BatchMember(row["trial_id"], row["attempt"], row["epoch"], row["position"])
        return found


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
