"""Chunks as rows: leased by one worker at a time, under a fence that only grows, until their trials are recorded.

Every write of a worker names its fence. Leases are measured by the database's clock, and none that ran out while the
database itself was away counts as lost. Rows are locked in one order everywhere: a chunk, its run's row in the queue,
the run itself.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import msgspec
from msgspec import Struct

from proctor.domain.chunk import Chunk, ChunkState, Pool, TrialTally
from proctor.domain.run import CANCELLED_REASON, RunStatus
from proctor.domain.text import shorten, storable
from proctor.stores.chunk_rows import chunk_of, count_more, set_tally, tally_of, tell
from proctor.stores.connection import Connection, Row
from proctor.stores.database import Database
from proctor.stores.events import add_event
from proctor.stores.leases import (
    CHUNK_LEASE_SECONDS,
    ChunkLease,
    LeaseLostError,
    owner_text,
    this_process,
)
from proctor.stores.moments import now_text
from proctor.stores.project_turns import SERVED_AT, give_turn, turns_of
from proctor.stores.queue import OPEN_RUN
from proctor.stores.runs import PROGRESS
from proctor.stores.scoping import check_run
from proctor.stores.statements import places

TURN_SECONDS = 0.01
"""For each trial of the chunk that it was given, a run and its project wait so much longer for their next turn."""
PROGRESS_SECONDS = 0.25
"""No run gets progress events more often than this."""


class Heard(Struct, frozen=True):
    """What a worker hears when it renews its lease."""

    is_wanted: bool
    """False: send nothing more, finish what is in flight, give the chunk back."""
    reason: str | None
    given_up: Mapping[str, str]
    """The models and judges that some worker gave up, and why."""


class ChunkStore:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._sql = database.dialect

    def get(self, chunk_id: int) -> Chunk | None:
        with self._database.connection() as connection:
            row = connection.execute("SELECT * FROM chunks WHERE id = ?", [chunk_id]).fetchone()
        return None if row is None else chunk_of(row)

    def of_run(self, run_id: str) -> list[Chunk]:
        """All chunks of the run, in the order in which they are taken."""
        check_run(self._database, run_id)
        query = "SELECT * FROM chunks WHERE run_id = ? ORDER BY position, evaluation_id, id"
        with self._database.connection() as connection:
            return [chunk_of(row) for row in connection.execute(query, [run_id])]

    def waiting(self, pools: Iterable[Pool], limit: int = 100) -> list[Chunk]:
        """Chunks that nobody has, the most urgent first; of one priority projects in turn, and the runs of each."""
        named = list(pools)
        query = (
            "SELECT * FROM (SELECT of_runs.*, row_number() OVER (PARTITION BY of_runs.project, priority "  # noqa: S608
            f"ORDER BY turn, of_runs.served_at, id) AS project_turn, {SERVED_AT} AS project_served_at FROM ("
            "SELECT chunks.*, runs.project, row_number() OVER (PARTITION BY chunks.run_id "
            "ORDER BY chunks.position, chunks.evaluation_id, chunks.id) AS turn, queue.served_at "
            "FROM chunks JOIN queue ON queue.run_id = chunks.run_id JOIN runs ON runs.id = chunks.run_id "
            f"WHERE chunks.state = 'waiting' AND pool IN ({places(len(named))}) AND not_before <= {self._sql.now} "
            f"AND {OPEN_RUN}) AS of_runs {turns_of('of_runs')}) AS taken "
            "ORDER BY priority DESC, project_turn, project_served_at, id LIMIT ?"
        )
        with self._database.connection() as connection:
            return [chunk_of(row) for row in connection.execute(query, [*named, limit])]

    # Leases

    def lease_announced(self, chunk_id: int, without: Collection[str] = ()) -> Chunk | None:
        """Claim what `lease_next` gives of the pool of the chunk that a message names; None when none waits there.

        Messages wait one behind the other: when one is read, another run's chunk may be due before this one.
        """
        with self._database.connection() as connection:
            row = connection.execute("SELECT pool FROM chunks WHERE id = ?", [chunk_id]).fetchone()
        found = None if row is None else self.lease_next([Pool(row["pool"])], without)
        if row is not None and (found is None or found.id != chunk_id):
            with self._database.connection() as connection:  # its message is used up
                connection.execute(
                    "UPDATE chunks SET announced_at = NULL WHERE id = ? AND state = ?", [chunk_id, ChunkState.WAITING]
                )
        return found

    def lease_next(self, pools: Iterable[Pool], without: Collection[str] = ()) -> Chunk | None:
        """Claim a waiting chunk: of the most urgent runs, of the project that was served longest ago, or least, and of
        its runs the one of which the same holds. A project has no more for having more runs.

        Runs in `without` are passed over.
        """
        named = list(pools)
        passed_over = f"AND queue.run_id NOT IN ({places(len(without))}) " if without else ""
        candidates = (
            "SELECT queue.run_id, runs.project FROM queue JOIN runs ON runs.id = queue.run_id "  # noqa: S608 - our own
            f"{turns_of('runs')} WHERE prepared_at IS NOT NULL AND {OPEN_RUN} AND EXISTS (SELECT 1 FROM chunks "
            "WHERE chunks.run_id = queue.run_id AND chunks.state = 'waiting' "
            f"AND pool IN ({places(len(named))}) AND not_before <= {self._sql.now}) "
            f"{passed_over}"
            f"ORDER BY queue.priority DESC, {SERVED_AT}, queue.served_at, accepted_at LIMIT 10"
        )
        first = (
            "SELECT id FROM chunks WHERE run_id = ? AND state = 'waiting' "  # noqa: S608 - only placeholders
            f"AND pool IN ({places(len(named))}) AND not_before <= {self._sql.now} "
            f"ORDER BY position, evaluation_id, id LIMIT 1 {self._sql.skip_locked}"
        )
        with self._database.connection() as connection:
            for run in connection.execute(candidates, [*named, *without]).fetchall():
                with connection.transaction(is_short=True):
                    row = connection.execute(first, [run["run_id"], *named]).fetchone()
                    found = None if row is None else self._lease(connection, row["id"], run["project"])
                if found is not None:
                    return found
        return None

    def _lease(self, connection: Connection, chunk_id: int, project: str) -> Chunk | None:
        now = self._sql.now
        row = connection.execute(
            f"UPDATE chunks SET state = ?, fence = fence + 1, lease_owner = ?, lease_until = {now} + ?, "  # noqa: S608
            f"is_wanted = ? WHERE id = ? AND state = ? AND not_before <= {now} AND EXISTS (SELECT 1 FROM queue "
            f"JOIN runs ON runs.id = queue.run_id WHERE queue.run_id = chunks.run_id AND {OPEN_RUN}) RETURNING *",
            [ChunkState.LEASED, this_process(), CHUNK_LEASE_SECONDS, True, chunk_id, ChunkState.WAITING],
        ).fetchone()
        if row is None:
            return None
        found = chunk_of(row)
        connection.execute(
            f"UPDATE queue SET served_at = {now} + ?, begun_at = coalesce(begun_at, {now}) WHERE run_id = ?",  # noqa: S608
            [TURN_SECONDS * found.count, found.run_id],
        )
        started = connection.execute(
            "UPDATE runs SET status = ?, started_at = coalesce(started_at, ?) WHERE id = ? AND status = ?",
            [RunStatus.RUNNING, now_text(), found.run_id, RunStatus.QUEUED],
        )
        if started.rowcount:
            add_event(connection, found.run_id, "started", {})
        tell(connection, found, worker=owner_text(this_process()))
        give_turn(connection, self._sql, project, TURN_SECONDS * found.count)
        return found

    def renew(self, lease: ChunkLease, tally: TrialTally) -> Heard:
        """Keep the lease and note how far it is; raises LeaseLostError when the chunk is not this one's any more."""
        with self._database.connection() as connection, connection.transaction(is_short=True):
            row = self._locked(connection, lease)
            connection.execute(
                f"UPDATE chunks SET lease_until = {self._sql.now} + ? WHERE id = ? AND fence = ? AND state = ?",  # noqa: S608
                [CHUNK_LEASE_SECONDS, lease.chunk_id, lease.fence, ChunkState.LEASED],
            )
            before = tally_of(row["tally"])
            if tally != before and tally.done >= before.done:  # one begun anew says nothing until it is as far
                self._note_progress(connection, row, before, tally)
            said = connection.execute(
                "SELECT status, stop_reason, given_up FROM queue JOIN runs ON runs.id = run_id WHERE run_id = ?",
                [row["run_id"]],
            ).fetchone()
        is_open = said["status"] in (RunStatus.QUEUED, RunStatus.RUNNING)
        reason = said["stop_reason"] or (None if is_open else CANCELLED_REASON)
        is_wanted = reason is None and bool(row["is_wanted"])
        return Heard(is_wanted, reason, msgspec.json.decode(said["given_up"]))

    def _note_progress(self, connection: Connection, row: Row, before: TrialTally, tally: TrialTally) -> None:
        """At most a few times a second for a run, whoever works on it."""
        now = self._sql.now
        due = connection.execute(
            f"UPDATE queue SET progressed_at = {now} WHERE run_id = ? AND progressed_at < {now} - ?",  # noqa: S608
            [row["run_id"], PROGRESS_SECONDS],
        )
        if due.rowcount:
            set_tally(connection, row["id"], tally)
            add_event(connection, row["run_id"], PROGRESS, count_more(connection, row["run_id"], tally - before))

    def finish(self, lease: ChunkLease, tally: TrialTally, unspent_pico_usd: int = 0) -> bool:
        """Its trials are recorded; True when no chunk of the run is left. Repeating it is harmless."""
        with self._database.connection() as connection, connection.transaction(is_short=True):
            row = self._locked(connection, lease, ChunkState.FINISHED)
            if row["state"] == ChunkState.LEASED:
                self._end(connection, row, ChunkState.FINISHED, tally, unspent_pico_usd, is_open=False)
            left = connection.execute("SELECT chunks_open FROM queue WHERE run_id = ?", [row["run_id"]]).fetchone()
        return bool(left[0] == 0)

    def give_back(
        self,
        lease: ChunkLease,
        tally: TrialTally,
        unspent_pico_usd: int = 0,
        *,
        is_done_with: bool = False,
        refusal: str | None = None,
        wait_seconds: float = 0.0,
    ) -> bool:
        """Let another worker go on with it, or nobody where the run is stopped; True when no chunk of the run is left.

        With `is_done_with`, nobody shall; `refusal` says why it could not be executed here.
        """
        with self._database.connection() as connection, connection.transaction(is_short=True):
            row = self._locked(connection, lease)
            is_wanted = (
                not is_done_with
                and bool(row["is_wanted"])
                and bool(
                    connection.execute(
                        "SELECT 1 FROM queue JOIN runs ON runs.id = run_id "  # noqa: S608 - our own words
                        f"WHERE run_id = ? AND {OPEN_RUN}",
                        [row["run_id"]],
                    ).fetchone()
                )
            )
            state = ChunkState.WAITING if is_wanted else ChunkState.DROPPED
            self._end(connection, row, state, tally, unspent_pico_usd, is_open=is_wanted)
            connection.execute(
                "UPDATE chunks SET refusals = refusals + ?, error = coalesce(?, error), announced_at = NULL, "  # noqa: S608
                f"not_before = {self._sql.now} + ? WHERE id = ?",
                [
                    int(refusal is not None),
                    None if refusal is None else storable(shorten(refusal)),
                    wait_seconds,
                    lease.chunk_id,
                ],
            )
            left = connection.execute("SELECT chunks_open FROM queue WHERE run_id = ?", [row["run_id"]]).fetchone()
        return bool(left[0] == 0)

    def refusals(self, chunk_id: int) -> int:
        """How often it could not be executed."""
        with self._database.connection() as connection:
            row = connection.execute("SELECT refusals FROM chunks WHERE id = ?", [chunk_id]).fetchone()
        return 0 if row is None else int(row[0])

    def _locked(self, connection: Connection, lease: ChunkLease, *also: ChunkState) -> Row:
        row: Row | None = connection.execute(
            f"SELECT * FROM chunks WHERE id = ? {self._sql.for_update}",  # noqa: S608 - our own words
            [lease.chunk_id],
        ).fetchone()
        if row is None or row["fence"] != lease.fence or row["state"] not in (ChunkState.LEASED, *also):
            raise LeaseLostError(str(lease.chunk_id), "Chunk")
        return row

    def _end(
        self, connection: Connection, row: Row, state: ChunkState, tally: TrialTally, unspent: int, *, is_open: bool
    ) -> None:
        connection.execute(
            "UPDATE chunks SET state = ?, lease_owner = NULL, lease_until = NULL, held_pico_usd = 0 WHERE id = ?",
            [state, row["id"]],
        )
        set_tally(connection, row["id"], tally)
        connection.execute(
            "UPDATE queue SET chunks_open = chunks_open - ?, taken_pico_usd = taken_pico_usd - ?, announced_at = NULL "
            "WHERE run_id = ?",
            [0 if is_open else 1, min(unspent, row["held_pico_usd"]), row["run_id"]],
        )
        said = count_more(connection, row["run_id"], tally - tally_of(row["tally"]))
        tell(connection, chunk_of(row, state), **said)

    # A broker

    def announce(self, pools: Iterable[Pool], *, again_seconds: float, limit: int, queued: int = 0) -> list[Chunk]:
        """Waiting chunks that a broker is to be told of now; none is named twice within `again_seconds`.

        No more than `limit` are with the broker at a time, so that what is urgent need not queue behind thousands;
        those that a lost worker had are named beyond that. `queued` are those that it is known to hold.
        """
        now, named = self._sql.now, list(pools)
        count = (
            f"SELECT count(*) FROM chunks WHERE state = 'waiting' AND pool IN ({places(len(named))}) "  # noqa: S608
            f"AND announced_at > {now} - ?"
        )
        claim = (
            f"UPDATE chunks SET announced_at = {now} WHERE id = ? AND state = 'waiting' "  # noqa: S608 - our own words
            f"AND (announced_at IS NULL OR announced_at <= {now} - ?) RETURNING id"
        )
        with self._database.connection() as connection:
            room = limit - max(queued, connection.execute(count, [*named, again_seconds]).fetchone()[0])
            found: list[Chunk] = []
            for chunk in self.waiting(named, limit + max(room, 0)):
                if len(found) >= room and not chunk.lost_leases:
                    continue
                if connection.execute(claim, [chunk.id, again_seconds]).fetchone():
                    found.append(chunk)
        return found

    # Pools

    def waiting_by_pool(self, run_id: str) -> dict[Pool, float]:
        """How long the run's waiting chunks have been waiting, by pool: since a chunk of the pool was last executed."""
        check_run(self._database, run_id)
        query = (
            "SELECT pool, max(accepted_at, coalesce(prepared_at, accepted_at)) AS since FROM chunks "
            "JOIN queue ON queue.run_id = chunks.run_id WHERE chunks.run_id = ? AND state = 'waiting' "
            "GROUP BY pool, accepted_at, prepared_at"
        )
        if self._sql.name == "postgresql":
            query = query.replace("max(accepted_at,", "greatest(accepted_at,")
        with self._database.connection() as connection:
            rows = connection.execute(query, [run_id]).fetchall()
            now = connection.execute(f"SELECT {self._sql.now}").fetchone()[0]
        return {Pool(row["pool"]): now - row["since"] for row in rows}
