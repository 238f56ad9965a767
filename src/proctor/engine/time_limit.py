"""A time limit that many share: one timer looks after all who are within it."""

from __future__ import annotations

import asyncio
from types import TracebackType


class TimeLimit:
    """`with limit:` raises TimeoutError in a task that stays in the block for longer, as `asyncio.timeout` does.

    All have the same time, so they run out in the order they came in, and the timer is set for the first of them. A
    timer for each would cost more than all else that a request waits for at our own gate.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._ends: dict[asyncio.Task[object], float] = {}
        self._expired: set[asyncio.Task[object]] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def __enter__(self) -> None:
        if self._timer is None or self._loop is None or self._loop.is_closed():
            self._loop = asyncio.get_running_loop()
            self._timer = self._loop.call_later(self._seconds, self._look, self._loop)
        task = asyncio.current_task(self._loop)
        if task is None or task in self._ends:
            raise RuntimeError("a time limit is for one block of a task at a time")
        self._ends[task] = self._loop.time() + self._seconds

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        task = asyncio.current_task(self._loop)
        if task is not None:
            del self._ends[task]
        if task in self._expired:
            self._expired.remove(task)
            # Whoever else has cancelled the task must be heard.
            if task.uncancel() == 0 and kind is asyncio.CancelledError:
                raise TimeoutError from error

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = None
        for task, ends in self._ends.items():
            if (left := ends - loop.time()) > 0:
                self._timer = loop.call_later(left, self._look, loop)
                return
            if task not in self._expired:
                self._expired.add(task)
                task.cancel()
