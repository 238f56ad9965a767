"""A run's heartbeat: its lease is renewed, its time limit kept, a cancel heard, time and progress noted."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from proctor.domain.errors import StoreError
from proctor.domain.run import CANCELLED_REASON
from proctor.runs.execution import RunExecution
from proctor.stores.leases import Lease, LeaseLostError
from proctor.stores.runs import RunStore

HEARTBEAT_SECONDS = 1.0


class RunClock:
    """The seconds of an execution that are not written yet: a process that is killed takes no others with it."""

    def __init__(self) -> None:
        self._since = time.monotonic()
        self.written = 0.0

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._since

    def note(self, seconds: float) -> None:
        """So many are written."""
        self._since += seconds
        self.written += seconds


@asynccontextmanager
async def kept_alive(execution: RunExecution, lease: Lease, store: RunStore, clock: RunClock) -> AsyncIterator[None]:
    """Keep the run's lease, and its time limit where it has one: proving that code can be run counts as running."""
    heartbeat = asyncio.create_task(_renew_lease(execution, lease, store, clock))
    minutes = execution.plan.limits.minutes
    deadline = None
    if minutes is not None:
        deadline = asyncio.get_running_loop().call_later(
            minutes * 60, execution.stop, f"the time limit of {minutes:g} minutes was reached"
        )
    try:
        yield
    finally:
        if deadline is not None:
            deadline.cancel()
        heartbeat.cancel()
        await asyncio.gather(heartbeat, return_exceptions=True)


async def _renew_lease(execution: RunExecution, lease: Lease, store: RunStore, clock: RunClock) -> None:
    """Keep the lease, hear of a cancel, and leave a trace of time and progress, once a second."""
    while True:
        await asyncio.sleep(HEARTBEAT_SECONDS)
        seconds, progress = clock.seconds, execution.progress
        try:
            is_wanted = await asyncio.to_thread(store.renew, lease, seconds, progress.fraction, progress.snapshot())
        except StoreError:
            continue  # locked, busy or away: the lease lasts longer than that, and the time is noted the next time
        except LeaseLostError:
            execution.lose()
            return
        if is_wanted:
            clock.note(seconds)
        else:
            execution.stop(CANCELLED_REASON)
