"""Chunks of workers that are gone: others take them up, in smaller parts where worker after worker was lost."""

from __future__ import annotations

from msgspec import Struct

from proctor.domain.chunk import ChunkState, TrialTally
from proctor.stores.chunk_rows import CHUNK_COLUMNS, chunk_of, count_more, set_tally, tally_of, tell
from proctor.stores.connection import Connection, Row, SqlDialect
from proctor.stores.database import Database
from proctor.stores.leases import CHUNK_LEASE_SECONDS, is_alive, owner_text
from proctor.stores.queue import OPEN_RUN

LOSSES_BEFORE_SPLIT = 2
SPLIT_INTO = 4
LOSSES_OF_ONE_TRIAL = 3
"""A trial that was alone with so many workers when they were lost is not tried again."""


class Lost(Struct, frozen=True):
    """A chunk whose worker is gone."""

    chunk_id: int
    run_id: str
    owner: str
    became: ChunkState


def reclaim_chunks(database: Database, limit: int = 1_000) -> list[Lost]:
    """Take the chunks of lost workers back: to wait, to be split, or to be dropped where their run is stopped."""
    sql = database.dialect
    query = (
        f"SELECT id, fence, lease_owner, lease_until < {sql.now} AND {sql.started} + ? < {sql.now} AS is_over "  # noqa: S608
        "FROM chunks WHERE state = 'leased' ORDER BY id LIMIT ?"
    )
    found: list[Lost] = []
    with database.connection() as connection:
        rows = connection.execute(query, [CHUNK_LEASE_SECONDS, limit]).fetchall()
        for row in rows:
            if is_alive(row["lease_owner"], is_current=not row["is_over"]):
                continue
            # One of this machine that lives may stand still: its lease has run out all the same.
            with connection.transaction(is_short=True):
                lost = _reclaim(connection, row, sql)
            if lost is not None:
                found.append(lost)
    return found


def _reclaim(connection: Connection, seen: Row, sql: SqlDialect) -> Lost | None:
    query = (
        f"SELECT *, lease_until < {sql.now} AS is_over FROM chunks "  # noqa: S608 - our own words
        f"WHERE id = ? AND fence = ? AND state = 'leased' {sql.skip_locked}"
    )
    row = connection.execute(query, [seen["id"], seen["fence"]]).fetchone()
    if row is None or (seen["is_over"] and not row["is_over"]):
        return None  # it was renewed, or ended, or another process does this
    run_id, losses = row["run_id"], row["lost_leases"] + 1
    is_open = connection.execute(
        f"SELECT 1 FROM queue JOIN runs ON runs.id = run_id WHERE run_id = ? AND {OPEN_RUN}",  # noqa: S608 - our own
        [run_id],
    ).fetchone()
    state = ChunkState.WAITING
    if is_open is None or not row["is_wanted"]:
        state = ChunkState.DROPPED
    elif row["count"] > 1 and losses >= LOSSES_BEFORE_SPLIT:
        state = ChunkState.SPLIT
    connection.execute(
        # What it held may have been spent: it stays taken.
        "UPDATE chunks SET state = ?, lost_leases = ?, lease_owner = NULL, lease_until = NULL, "
        "announced_at = NULL, held_pico_usd = 0, fence = fence + 1 WHERE id = ?",
        [state, losses, row["id"]],
    )
    parts = _split(connection, row) if state is ChunkState.SPLIT else 0
    change = {ChunkState.DROPPED: -1, ChunkState.SPLIT: parts - 1}.get(state, 0)
    connection.execute("UPDATE queue SET chunks_open = chunks_open + ? WHERE run_id = ?", [change, run_id])
    taken_back = TrialTally()
    if state is ChunkState.SPLIT:  # its parts count what it did anew
        taken_back = TrialTally() - tally_of(row["tally"])
        set_tally(connection, row["id"], TrialTally())
    said = count_more(connection, run_id, taken_back)
    tell(connection, chunk_of(row, state), worker=owner_text(row["lease_owner"]), is_lost=True, parts=parts, **said)
    return Lost(row["id"], run_id, row["lease_owner"], state)


def _split(connection: Connection, row: Row) -> int:
    """Smaller chunks in the place of one; gives how many."""
    start, end = row["position"], row["position"] + row["count"]
    size, same = -(-row["count"] // SPLIT_INTO), (row["run_id"], row["evaluation_id"])
    parts = [
        # Those that are larger than one trial are split again at the next loss.
        (
            *same,
            place,
            count,
            row["pool"],
            row["priority"],
            row["fence"] + 1,
            int(count > 1) * (LOSSES_BEFORE_SPLIT - 1),
        )
        for place in range(start, end, size)
        for count in [min(size, end - place)]
    ]
    connection.insert("chunks", CHUNK_COLUMNS, parts)
    return len(parts)
