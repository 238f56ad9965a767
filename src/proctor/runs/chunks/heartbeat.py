"""A chunk's heartbeat: the lease is kept, progress is noted, and what others decide is heard, twice a second."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from decimal import Decimal
from types import TracebackType
from typing import Self

from msgspec.structs import replace

from proctor.domain.chunk import Chunk, TrialTally
from proctor.domain.errors import StoreError
from proctor.domain.event import Event, FaultSeen, ResultsRecorded, TrialsSkipped
from proctor.domain.trial import Outcome
from proctor.stores.chunk_rows import lease_of
from proctor.stores.chunks import ChunkStore, Heard
from proctor.stores.codec import floor_pico
from proctor.stores.leases import LeaseLostError

HEARTBEAT_SECONDS = 0.5
SLICE_SECONDS = 10.0
"""A chunk that takes longer is given back while it goes well, so that other runs get their turn."""
STILL_SECONDS = 60.0
"""An event loop that stands still for longer will not go on: its chunk is left to others."""
STUCK_SECONDS = 90.0
log = logging.getLogger("proctor.runs")


class ChunkHeartbeat:
    """Beats in a thread of its own: what computes for seconds must not cost the lease. Use as a context manager."""

    def __init__(self, chunk: Chunk, store: ChunkStore, is_stuck: Callable[[], None] | None = None) -> None:
        self.stopping = asyncio.Event()
        self.tally = TrialTally()
        self.is_lost = False
        self.is_left_to_others = False
        """Nothing is asked here: other processes have all of what the plan allows at once."""
        self.is_given_up = False
        """Another worker gave its model up: nobody need go on with it."""
        self.unspent_usd: Callable[[], Decimal] = lambda: Decimal(0)
        self._chunk, self._store, self._is_stuck = chunk, store, is_stuck
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.current_task()
        self._label: str | None = None
        self._deadline: tuple[float, Callable[[], None]] | None = None
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._beat, name=f"chunk {chunk.id}", daemon=True)
        self._begun = self._loop_seen = time.monotonic()
        self._done_before = 0

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._over.set()
        self._thread.join()

    def watch(self, label: str) -> None:
        """Stop also when another worker gives this model up."""
        self._label = label

    def end_after(self, seconds: float, stop: Callable[[], None]) -> None:
        """When the run's time is over, call `stop`, in another thread."""
        self._deadline = (time.monotonic() + seconds, stop)

    def unspent_pico_usd(self) -> int:
        """What the chunk has taken of the run's money and not spent."""
        return floor_pico(self.unspent_usd())

    def observe(self, event: Event) -> None:
        match event:
            case ResultsRecorded(results):
                tally = self.tally
                for result in results:
                    tally = tally + _COUNTS[result.outcome]
                cached = sum(result.answer.is_cached for result in results)
                self.tally = replace(tally, cached=tally.cached + cached)
            case TrialsSkipped(_, count):
                self.tally = replace(self.tally, skipped=self.tally.skipped + count)
            case FaultSeen(_, _, is_rate_limit):
                tally = self.tally
                self.tally = replace(
                    tally, faults=tally.faults + 1, rate_limits=tally.rate_limits + bool(is_rate_limit)
                )

    def _beat(self) -> None:
        while not self._over.wait(HEARTBEAT_SECONDS):
            now = time.monotonic()
            self._loop.call_soon_threadsafe(self._see)
            still = now - self._loop_seen
            if still > STUCK_SECONDS and self._is_stuck is not None:
                self._is_stuck()
            if still > STILL_SECONDS:
                continue
            try:
                if self._deadline is not None and now > self._deadline[0]:
                    self._deadline[1]()
                heard = self._store.renew(lease_of(self._chunk), self.tally)
            except LeaseLostError:
                self._tell(self._lose)
                return
            except StoreError:
                continue  # locked, busy or away: the lease lasts longer than that
            except Exception:
                log.exception("the lease of chunk %s could not be renewed", self._chunk.id)
                continue
            self._hear(heard, now)

    def _see(self) -> None:
        self._loop_seen = time.monotonic()

    def _hear(self, heard: Heard, now: float) -> None:
        self.is_given_up = "" in heard.given_up or (self._label is not None and self._label in heard.given_up)
        done, self._done_before = self.tally.done - self._done_before, self.tally.done
        # One that is held up is not given back: whoever took it next would ask again at once.
        has_had_its_time = now - self._begun > SLICE_SECONDS and done > 0
        if not heard.is_wanted or self.is_given_up or has_had_its_time:
            self._tell(self.stopping.set)

    def _tell(self, what: Callable[[], object]) -> None:
        self._loop.call_soon_threadsafe(what)

    def _lose(self) -> None:
        """Another worker has it: nothing that comes could be recorded."""
        self.is_lost = True
        self.stopping.set()
        if self._task is not None and not self._over.is_set():
            self._task.cancel()


_COUNTS = {
    Outcome.SCORED: TrialTally(scored=1),
    Outcome.INVALID: TrialTally(invalid=1),
    Outcome.FAILED: TrialTally(failed=1),
    Outcome.STOPPED: TrialTally(stopped=1),
}
