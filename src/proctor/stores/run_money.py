"""A run's money, shared by all who execute chunks of it: blocks are taken from its row by one conditional update.

What a lost worker held stays taken: it may have been spent on requests whose answers nobody has.
"""

from __future__ import annotations

from decimal import Decimal

from proctor.domain.chunk import Chunk
from proctor.stores.chunk_rows import lease_of
from proctor.stores.codec import ceil_pico, floor_pico
from proctor.stores.connection import Connection
from proctor.stores.database import Database
from proctor.stores.leases import LeaseLostError
from proctor.stores.patience import patiently
from proctor.stores.queue import QueueStore


class ChunkMoney:
    """What one chunk takes of its run's money, and gives back."""

    def __init__(self, database: Database, chunk: Chunk, cap_usd: Decimal) -> None:
        self._database, self._chunk, self._lease = database, chunk, lease_of(chunk)
        self._cap = floor_pico(cap_usd)

    def take(self, amount_usd: Decimal) -> bool:
        """Reserve so much more of the run's money; False where the cap leaves too little."""
        return patiently(lambda: self._take(ceil_pico(amount_usd)))

    def _take(self, amount: int) -> bool:
        with self._database.connection() as connection, connection.transaction(is_short=True):
            self._hold(connection, "held_pico_usd + ?", amount)
            taken = connection.execute(
                "UPDATE queue SET taken_pico_usd = taken_pico_usd + ? WHERE run_id = ? AND taken_pico_usd + ? <= ?",
                [amount, self._chunk.run_id, amount, self._cap],
            )
            if taken.rowcount == 0:
                self._hold(connection, "held_pico_usd - ?", amount)
                return False
        return True

    def give_back(self, unspent_usd: Decimal) -> None:
        """Nothing is in flight, and so much of what was taken is not spent: this chunk holds nothing any more."""

        def write() -> None:
            with self._database.connection() as connection, connection.transaction(is_short=True):
                held = self._held(connection)
                self._hold(connection, "?", 0)
                connection.execute(
                    "UPDATE queue SET taken_pico_usd = taken_pico_usd - ? WHERE run_id = ?",
                    [min(floor_pico(unspent_usd), held), self._chunk.run_id],
                )

        patiently(write)

    def is_held_by_others(self) -> bool:
        """Whether another chunk that is being executed may give something back."""

        def read() -> bool:
            with self._database.connection() as connection:
                row = connection.execute(
                    "SELECT 1 FROM chunks WHERE run_id = ? AND state = 'leased' AND id != ? AND held_pico_usd > 0",
                    [self._chunk.run_id, self._chunk.id],
                ).fetchone()
            return row is not None

        return patiently(read)

    def taken_usd(self) -> Decimal:
        """What all of the run has spent, or may spend."""
        queued = patiently(lambda: QueueStore(self._database).get(self._chunk.run_id))
        return Decimal(0) if queued is None else queued.taken_usd

    def _held(self, connection: Connection) -> int:
        query = f"SELECT held_pico_usd FROM chunks WHERE id = ? {self._database.dialect.for_update}"  # noqa: S608
        row = connection.execute(query, [self._chunk.id]).fetchone()
        return 0 if row is None else int(row[0])

    def _hold(self, connection: Connection, amount: str, value: int) -> None:
        changed = connection.execute(
            f"UPDATE chunks SET held_pico_usd = {amount} WHERE id = ? AND fence = ? AND state = 'leased'",  # noqa: S608
            [value, self._lease.chunk_id, self._lease.fence],
        )
        if changed.rowcount == 0:
            raise LeaseLostError(str(self._chunk.id), "Chunk")
