"""Chunks as rows, and what is told of them."""

from __future__ import annotations

from typing import Any

import msgspec

from proctor.domain.chunk import Chunk, ChunkState, Pool, Priority, TrialTally
from proctor.stores.connection import Connection, Row
from proctor.stores.events import add_event
from proctor.stores.leases import ChunkLease

CHUNK_COLUMNS = ("run_id", "evaluation_id", "position", "count", "pool", "priority", "fence", "lost_leases")


def progress_of(tally: TrialTally, trials: int) -> dict[str, Any]:
    """What events say of how far a run is."""
    outcomes = {name: getattr(tally, name) for name in ("scored", "invalid", "failed", "stopped")}
    return {
        "progress": round(tally.done / trials, 6) if trials else 1.0,
        "done": tally.done,
        "trials": trials,
        "skipped": tally.skipped,
        "cached": tally.cached,
        "outcomes": {name: count for name, count in outcomes.items() if count},
        "faults": tally.faults,
        "rate_limits": tally.rate_limits,
        "concurrency": {},
    }


def chunk_of(row: Row, state: ChunkState | None = None) -> Chunk:
    return Chunk(
        id=row["id"],
        run_id=row["run_id"],
        evaluation_id=row["evaluation_id"],
        position=row["position"],
        count=row["count"],
        pool=Pool(row["pool"]),
        state=state or ChunkState(row["state"]),
        priority=Priority.of_rank(row["priority"]),
        fence=row["fence"],
        lost_leases=row["lost_leases"],
        tally=tally_of(row["tally"]),
        error=row["error"],
    )


def lease_of(chunk: Chunk) -> ChunkLease:
    """The hold on a chunk that was just leased."""
    return ChunkLease(chunk.id, chunk.fence)


def tally_of(text: str) -> TrialTally:
    return msgspec.json.decode(text, type=TrialTally)


def set_tally(connection: Connection, chunk_id: int, tally: TrialTally) -> None:
    text = msgspec.json.encode(tally).decode()
    connection.execute("UPDATE chunks SET tally = ? WHERE id = ?", [text, chunk_id])


def count_more(connection: Connection, run_id: str, more: TrialTally) -> dict[str, Any]:
    """Add to what the run has counted; gives how far it is, for events. The run's row in the queue is locked by now."""
    row = connection.execute("SELECT tally, trials, chunks_open FROM queue WHERE run_id = ?", [run_id]).fetchone()
    tally = tally_of(row["tally"]) + more
    if more != TrialTally():
        connection.execute("UPDATE queue SET tally = ? WHERE run_id = ?", [msgspec.json.encode(tally).decode(), run_id])
        done = tally.done / row["trials"] if row["trials"] else 1.0
        connection.execute(
            "UPDATE runs SET progress = CASE WHEN progress < ? THEN ? ELSE progress END WHERE id = ?",
            [done, min(done, 1.0), run_id],
        )
    return {**progress_of(tally, row["trials"]), "chunks_open": row["chunks_open"]}


def tell(connection: Connection, chunk: Chunk, **more: Any) -> None:
    said = {
        "chunk": chunk.id,
        "state": chunk.state.value,
        "evaluation": chunk.evaluation_id,
        "position": chunk.position,
        "count": chunk.count,
        "pool": chunk.pool.value,
        "fence": chunk.fence,
    }
    add_event(connection, chunk.run_id, "chunk", {**said, **more})
