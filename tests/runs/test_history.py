"""Whoever follows a run's events knows what the store knows, whatever happens to the run."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from proctor.domain.chunk import Chunk, ChunkState, Pool, Slice, TrialTally
from proctor.domain.run import RunStatus
from proctor.stores.chunk_rows import lease_of
from proctor.stores.chunks import ChunkStore
from proctor.stores.database import Database
from proctor.stores.lost_chunks import reclaim_chunks
from proctor.stores.queue import QueueStore
from proctor.stores.runs import RunStore
from proctor.stores.steps import StepStore
from runs.rebuilt import rebuilt_state, stored_state
from stores.parts import PLAN, evaluation, let_it_run_out, new_chunks, reclaimed

CHUNKS, SIZE = 4, 6
STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            ["lease", "lease", "renew", "finish", "give back", "refuse", "lose", "stop", "give up", "drop", "cancel",
             "end", "again"]
        ),
        st.integers(0, 10),
    ),
    max_size=25,
)  # fmt: skip


class Story:
    """One run, and what workers, people and accidents do to it; what cannot happen now does not."""

    def __init__(self, database: Database) -> None:
        with database.connection() as connection:
            connection.execute("DELETE FROM runs")
        self.database = database
        self.run_id = new_chunks(database, CHUNKS, SIZE)
        self.chunks, self.queue, self.steps = ChunkStore(database), QueueStore(database), StepStore(database)

    def check(self) -> None:
        """A cancel is asked for by the run's row; it has happened, as an event says then, when all have let go."""
        stored, queued = stored_state(self.database, self.run_id), self.queue.get(self.run_id)
        assert queued is not None
        rebuilt = rebuilt_state(self.database, self.run_id)
        if stored.status is RunStatus.CANCELLED and not queued.is_finished:
            stored.status = rebuilt.status
        assert rebuilt == stored

    def leased(self, number: int) -> Chunk | None:
        found = [chunk for chunk in self.chunks.of_run(self.run_id) if chunk.state is ChunkState.LEASED]
        return found[number % len(found)] if found else None

    def tally(self, chunk: Chunk, number: int) -> TrialTally:
        done = min(chunk.count, number)
        return TrialTally(scored=done // 2, failed=done - done // 2, faults=number, cached=done // 3)

    def tell(self, step: str, number: int) -> None:
        on_chunk: dict[str, Callable[[Chunk], object]] = {
            "renew": lambda chunk: self.chunks.renew(lease_of(chunk), self.tally(chunk, number)),
            "finish": lambda chunk: self.chunks.finish(lease_of(chunk), TrialTally(scored=chunk.count)),
            "give back": lambda chunk: self.chunks.give_back(lease_of(chunk), self.tally(chunk, number)),
            "refuse": lambda chunk: self.chunks.give_back(
                lease_of(chunk), TrialTally(), refusal="no such file", is_done_with=number > 5
            ),
            "lose": self.lose,
        }
        if step in on_chunk:
            chunk = self.leased(number)
            if chunk is not None:
                on_chunk[step](chunk)
            return
        on_run: dict[str, Callable[[], object]] = {
            "lease": lambda: self.chunks.lease_next([Pool.DEFAULT]),
            "stop": lambda: self.queue.stop(self.run_id, f"enough {number}"),
            "give up": lambda: self.queue.give_up(self.run_id, {"demo/x": "it is gone"}),
            "drop": lambda: self.queue.drop_waiting(self.run_id),
            "cancel": lambda: RunStore(self.database).request_cancel(self.run_id),
            "end": self.end,
            "again": self.again,
        }
        on_run[step]()

    def lose(self, chunk: Chunk) -> None:
        let_it_run_out(self.database, chunk.id)
        assert reclaimed(self.database)
        assert reclaim_chunks(self.database) == []

    def end(self) -> None:
        queued = self.queue.get(self.run_id)
        assert queued is not None
        if queued.chunks_open or queued.is_finished:
            return
        lease = self.steps.lease(self.run_id)
        assert lease is not None
        status = RunStore(self.database).get(self.run_id).status
        is_stopped = queued.stop_reason is not None or status is RunStatus.CANCELLED
        ended = RunStatus.CANCELLED if is_stopped else RunStatus.COMPLETED
        assert self.steps.finish(lease, ended, queued.stop_reason)

    def again(self) -> None:
        queued = self.queue.get(self.run_id)
        assert queued is not None
        if not queued.is_finished:
            return
        self.queue.requeue(self.run_id, PLAN)
        lease = self.steps.lease(self.run_id)
        assert lease is not None
        slices = (Slice(0, number * SIZE, SIZE, Pool.DEFAULT) for number in range(CHUNKS))
        assert self.steps.write_prepared(lease, PLAN, [evaluation(CHUNKS * SIZE)], slices) == CHUNKS


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40)
@given(STEPS)
def test_events_alone_say_how_far_a_run_is(database: Database, steps: list[tuple[str, int]]) -> None:
    story = Story(database)
    story.check()
    for step, number in steps:
        story.tell(step, number)
        story.check()
