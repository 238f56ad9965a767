"""A slice of one evaluation: the unit that is queued, leased and retried when many workers share a run."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct


class Pool(StrEnum):
    """Which workers may take a chunk."""

    DEFAULT = "default"
    SANDBOX = "sandbox"
    """Workers that can run untrusted code."""
    LOCAL = "local"
    """Workers that have weights or a GPU."""


class Priority(StrEnum):
    LOW = "low"
    NORMAL = "normal"
    HIGH = "high"

    @property
    def rank(self) -> int:
        """Grows with the priority."""
        return list(Priority).index(self)

    @classmethod
    def of_rank(cls, rank: int) -> Priority:
        return list(cls)[rank]


class ChunkState(StrEnum):
    WAITING = "waiting"
    LEASED = "leased"
    FINISHED = "finished"
    SPLIT = "split"
    """It lost its worker again and again; smaller chunks took its place."""
    DROPPED = "dropped"
    """Its trials are not wanted any more: the run was stopped."""


class TrialTally(Struct, frozen=True):
    """What has become of trials, by counts that add up."""

    skipped: int = 0
    """Recorded by an earlier execution."""
    scored: int = 0
    invalid: int = 0
    failed: int = 0
    stopped: int = 0
    cached: int = 0
    faults: int = 0
    rate_limits: int = 0

    @property
    def done(self) -> int:
        return self.skipped + self.scored + self.invalid + self.failed + self.stopped

    def __add__(self, other: TrialTally) -> TrialTally:
        return TrialTally(*(getattr(self, name) + getattr(other, name) for name in TrialTally.__struct_fields__))

    def __sub__(self, other: TrialTally) -> TrialTally:
        return TrialTally(*(getattr(self, name) - getattr(other, name) for name in TrialTally.__struct_fields__))


class Slice(Struct, frozen=True):
    """Some trials of an evaluation that follow one another, and who may work on them; not in the store yet."""

    evaluation_id: int
    position: int
    """Of the first trial; trials are counted epoch by epoch."""
    count: int
    pool: Pool = Pool.DEFAULT


class Chunk(Struct, frozen=True):
    id: int
    run_id: str
    evaluation_id: int
    position: int
    """Of its first trial; trials are counted epoch by epoch."""
    count: int
    pool: Pool
    state: ChunkState
    priority: Priority
    fence: int
    """Grows with every lease."""
    lost_leases: int
    """How many workers were lost with it."""
    tally: TrialTally = TrialTally()
    error: str | None = None
