"""A run's state as its events tell it: whoever follows them knows what the store knows."""

from __future__ import annotations

from msgspec import Struct

from proctor.domain.chunk import ChunkState, TrialTally
from proctor.domain.run import RunStatus
from proctor.stores.database import Database
from proctor.stores.events import StoredEvent, events_after
from proctor.stores.queue import END_EVENTS, QueueStore
from proctor.stores.runs import RunStore

_STATUSES = {kind: status for status, kind in END_EVENTS.items()}


class RunState(Struct):
    """How far a run is that workers carry out."""

    status: RunStatus = RunStatus.QUEUED
    error: str | None = None
    trials: int = 0
    chunks_open: int = 0
    leased: frozenset[int] = frozenset()
    """The chunks that a worker has."""
    tally: TrialTally = TrialTally()

    def follow(self, event: StoredEvent) -> None:
        """Take the next event in."""
        data = event.data
        match event.kind:
            case "accepted":
                self.status, self.error, self.tally = RunStatus.QUEUED, None, TrialTally()
                self.trials, self.chunks_open, self.leased = 0, 0, frozenset()
            case "prepared":
                self.trials, self.chunks_open = data["trials"], data["chunks"]
            case "started":
                self.status = RunStatus.RUNNING
            case "chunk" if data["state"] == ChunkState.LEASED:
                self.leased |= {data["chunk"]}
            case "chunk":
                self.leased -= {data.get("chunk", 0)}
                self.chunks_open = data["chunks_open"]
            case _ if event.kind in _STATUSES:
                self.status, self.error = _STATUSES[event.kind], data["error"]
        if "outcomes" in data:
            self.tally = TrialTally(
                skipped=data["skipped"],
                cached=data["cached"],
                faults=data["faults"],
                rate_limits=data["rate_limits"],
                **data["outcomes"],
            )


def rebuilt_state(database: Database, run_id: str) -> RunState:
    """From the events alone."""
    state = RunState()
    for event in events_after(database, run_id):
        state.follow(event)
    return state


def stored_state(database: Database, run_id: str) -> RunState:
    """As the run's own rows have it."""
    from proctor.stores.chunks import ChunkStore

    run, queued = RunStore(database).get(run_id), QueueStore(database).get(run_id)
    if queued is None:
        return RunState(run.status, run.error)
    leased = [chunk.id for chunk in ChunkStore(database).of_run(run_id) if chunk.state is ChunkState.LEASED]
    return RunState(run.status, run.error, queued.trials, queued.chunks_open, frozenset(leased), queued.tally)
