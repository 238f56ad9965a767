"""What is packed of an evaluation: who packs it, whether it still holds, and the rows.

A packing is made after the run has ended, a segment in a transaction, by one process at a time. It holds as long as the
run is not taken up again; one of columns, as long as the same scores are in force. Whoever reads one that goes away
meanwhile is told by `PackingGoneError`, and reads the results themselves.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any

import orjson
from msgspec import Struct

from proctor.domain.run import ENDED
from proctor.stores.connection import Connection
from proctor.stores.database import Database
from proctor.stores.scoping import scope_filter

REVISION = "3"
"""Of how things are packed; what another version packed is packed again."""
LARGE = 20_000
"""Results of a run from which on packing them pays; fewer are read as they are."""
CLAIM_SECONDS = 120.0
LAST = "\U0010ffff"
"""Comes after every character of a word."""
_ENDED = ", ".join(f"'{status.value}'" for status in ENDED)
_STILL = (
    "SELECT 1 FROM evaluations JOIN runs ON runs.id = evaluations.run_id WHERE evaluations.id = packings.evaluation_id "  # noqa: S608
    f"AND runs.fence = packings.fence AND runs.status IN ({_ENDED}) "
    "AND (packings.kind = 'words' OR evaluations.scorers = packings.scorers)"
)


class PackingGoneError(Exception):
    """What was packed is packed anew: to be read from the results instead."""


class PackingKind(StrEnum):
    COLUMNS = "columns"
    WORDS = "words"


class Packing(Struct, frozen=True):
    evaluation_id: int
    generation: int
    results: int
    detail: Mapping[str, Any]

    @property
    def segment(self) -> int:
        """How many results each segment has, but for the last."""
        size: int = self.detail["segment"]
        return size

    @property
    def segments(self) -> int:
        return -(-self.results // self.segment)


class PackedEvaluation(Struct, frozen=True):
    """What there is to pack: an evaluation of a run that has ended."""

    id: int
    run_id: str
    scorers: str
    fence: int


def _always() -> bool:
    return True


class PackingClaim(Struct, frozen=True):
    """The right to pack one evaluation; another process has it when it is not renewed."""

    evaluation_id: int
    kind: PackingKind
    generation: int


class PackingStore:
    def __init__(self, database: Database, go_on: Callable[[], bool] = _always) -> None:
        """Once `go_on` says no, nothing more is written, as if the claim were lost."""
        self._database, self._go_on = database, go_on

    def find(self, evaluation_id: int) -> dict[PackingKind, Packing]:
        """What is packed of the evaluation and still holds."""
        scope = scope_filter(self._database, "evaluations")
        query = (
            f"SELECT kind, generation, results, detail FROM packings WHERE evaluation_id = ? AND is_complete "  # noqa: S608
            f"AND revision = ? AND EXISTS ({_STILL}{scope.sql})"
        )
        with self._database.connection() as connection:
            rows = connection.execute(query, [evaluation_id, REVISION, *scope.values]).fetchall()
        return {
            PackingKind(kind): Packing(evaluation_id, generation, results, orjson.loads(detail))
            for kind, generation, results, detail in rows
        }

    def unpacked(
        self, kind: PackingKind, limit: int, run_id: str | None = None, large: int = LARGE
    ) -> list[PackedEvaluation]:
        """Evaluations of large runs that have ended, of which this is not packed, the newest first."""
        scope = scope_filter(self._database)
        mine = "" if run_id is None else " AND runs.id = ?"
        query = f"""
            SELECT evaluations.id, run_id, scorers, fence FROM evaluations JOIN runs ON runs.id = run_id
            WHERE status IN ({_ENDED}) AND lease_owner IS NULL{mine}{scope.sql}
            AND NOT EXISTS (SELECT 1 FROM queue WHERE queue.run_id = runs.id AND queue.finished_at IS NULL)
            AND (SELECT sum(planned.samples * planned.epochs) FROM evaluations AS planned
                 WHERE planned.run_id = runs.id) >= ?
            AND NOT EXISTS (SELECT 1 FROM packings WHERE packings.evaluation_id = evaluations.id AND kind = ?
                            AND (is_complete AND revision = ? AND EXISTS ({_STILL})
                                 OR NOT is_complete AND claimed_until > {self._database.dialect.now}))
            ORDER BY runs.created_at DESC, evaluations.position LIMIT ?
        """  # noqa: S608 - only our own words are put in
        own = [] if run_id is None else [run_id]
        with self._database.connection() as connection:
            rows = connection.execute(query, [*own, *scope.values, large, kind, REVISION, limit]).fetchall()
        return [PackedEvaluation(row["id"], row["run_id"], row["scorers"], row["fence"]) for row in rows]

    def claim(self, evaluation: PackedEvaluation, kind: PackingKind) -> PackingClaim | None:
        """Begin to pack; None where another process does. What an earlier packing left behind is deleted."""
        now, generation = self._database.dialect.now, secrets.randbits(62)
        with self._database.connection() as connection:
            claimed = connection.execute(
                "INSERT INTO packings (evaluation_id, kind, generation, revision, fence, scorers, results, detail, "  # noqa: S608
                f"is_complete, claimed_until) VALUES (?, ?, ?, ?, ?, ?, 0, '{{}}', ?, {now} + ?) "
                "ON CONFLICT (evaluation_id, kind) DO UPDATE SET generation = excluded.generation, "
                "revision = excluded.revision, fence = excluded.fence, scorers = excluded.scorers, results = 0, "
                "detail = '{}', is_complete = excluded.is_complete, claimed_until = excluded.claimed_until "
                f"WHERE packings.is_complete OR packings.claimed_until < {now}",
                [
                    evaluation.id, kind, generation, REVISION, evaluation.fence, evaluation.scorers, False,
                    CLAIM_SECONDS,
                ],
            )  # fmt: skip
            if claimed.rowcount != 1:
                return None
            self._delete_others(connection, evaluation.id, kind, generation)
        return PackingClaim(evaluation.id, kind, generation)

    def _delete_others(self, connection: Connection, evaluation_id: int, kind: PackingKind, generation: int) -> None:
        table = f"packed_{kind}"
        query = f"SELECT DISTINCT generation, segment FROM {table} WHERE evaluation_id = ? AND generation <> ?"  # noqa: S608
        for old, segment in connection.execute(query, [evaluation_id, generation]).fetchall():
            connection.execute(
                f"DELETE FROM {table} WHERE evaluation_id = ? AND generation = ? AND segment = ?",  # noqa: S608
                [evaluation_id, old, segment],
            )

    def write(self, claim: PackingClaim, columns: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> bool:
        """Keep some rows; False where the claim was lost."""
        if not self._go_on():
            return False
        names = ("evaluation_id", "generation", *columns)
        head = (claim.evaluation_id, claim.generation)
        with self._database.connection() as connection, connection.transaction():
            renewed = connection.execute(
                f"UPDATE packings SET claimed_until = {self._database.dialect.now} + ? "  # noqa: S608 - our own words
                "WHERE evaluation_id = ? AND kind = ? AND generation = ? AND NOT is_complete",
                [CLAIM_SECONDS, claim.evaluation_id, claim.kind, claim.generation],
            )
            if renewed.rowcount != 1:
                return False
            connection.insert(f"packed_{claim.kind}", names, [(*head, *row) for row in rows], "ON CONFLICT DO NOTHING")
        return True

    def complete(self, claim: PackingClaim, results: int, detail: Mapping[str, Any]) -> bool:
        """Let it be read; False where the claim was lost, or the run was taken up or scored again meanwhile."""
        with self._database.connection() as connection:
            done = connection.execute(
                "UPDATE packings SET is_complete = ?, results = ?, detail = ? WHERE evaluation_id = ? AND kind = ? "  # noqa: S608
                f"AND generation = ? AND EXISTS ({_STILL})",
                [
                    True, results, orjson.dumps(detail).decode(), claim.evaluation_id, claim.kind, claim.generation,
                ],
            )  # fmt: skip
        return bool(done.rowcount == 1)


def read_column(connection: Connection, packing: Packing, name: str, segment: int) -> bytes:
    """One column of a segment."""
    query = "SELECT data FROM packed_columns WHERE evaluation_id = ? AND generation = ? AND segment = ? AND name = ?"
    row = connection.execute(query, [packing.evaluation_id, packing.generation, segment, name]).fetchone()
    if row is None:
        raise PackingGoneError
    return bytes(row[0])


def read_places(
    connection: Connection, packing: Packing, segment: int, field: int, word: str, *, is_prefix: bool = False
) -> list[bytes]:
    """Where a word of a segment occurs, or every word that begins so."""
    which, values = ("word >= ? AND word < ?", [word, word + LAST]) if is_prefix else ("word = ?", [word])
    query = (
        "SELECT places FROM packed_words WHERE evaluation_id = ? AND generation = ? AND segment = ? AND field = ? "  # noqa: S608
        f"AND {which}"
    )
    found = connection.execute(query, [packing.evaluation_id, packing.generation, segment, field, *values])
    return [bytes(row[0]) for row in found]


def forget_columns(connection: Connection, evaluation_id: int) -> None:
    """Other scores count from now on, within the transaction that says so."""
    connection.execute("DELETE FROM packings WHERE kind = 'columns' AND evaluation_id = ?", [evaluation_id])
