"""Asks as they stand: an answer whose process is gone has ended."""

from __future__ import annotations

from proctor.stores.database import Database
from proctor.stores.playground import OPEN_STATES, AskRow, PlaygroundStore

LOST_SECONDS = 20.0
"""An answer that nobody has written or waited for so long was lost with its process."""
LOST = "The server that was asking ended before the answer did; it may have been billed. Ask again."


def read_ask(database: Database, ask_id: str) -> AskRow:
    """Raises NotFoundError for what there is not, or is another project's."""
    return without_lost(database, PlaygroundStore(database).get(ask_id))


def without_lost(database: Database, row: AskRow) -> AskRow:
    """The ask; answers that nobody has been heard of for long have failed, and this is written down."""
    store = PlaygroundStore(database)
    is_open = any(one.state in OPEN_STATES for one in row.answers)
    if is_open and store.end_lost(row.id, LOST_SECONDS, {"error": LOST}):
        return store.get(row.id)
    return row
