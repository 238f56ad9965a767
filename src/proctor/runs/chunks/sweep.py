"""Finds what nobody works on although somebody should; doing it twice, or in several processes at once, is harmless."""

from __future__ import annotations

from proctor.stores.database import Database
from proctor.stores.lost_chunks import Lost, reclaim_chunks
from proctor.stores.queue import QueueStore
from proctor.stores.rescorings import RescoringQueue


def reclaim(database: Database) -> list[Lost]:
    """Take back what lost workers had, and drop the chunks of stopped runs."""
    queue = QueueStore(database)
    queue.free_lost_steps()
    RescoringQueue(database).free_lost()
    lost = reclaim_chunks(database)
    for run_id in queue.stopped():
        queue.drop_waiting(run_id)
    return lost
