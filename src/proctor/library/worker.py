"""Work in a thread with an event loop of its own: the caller's thread may have one that is running."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Worker(Generic[T]):
    """Runs a coroutine to its end; an interrupted wait stops it first, so that what is in flight is kept."""

    def __init__(self, work: Callable[[], Coroutine[Any, Any, T]], stop: Callable[[], None]) -> None:
        self._work, self._stop = work, stop
        self._outcome: list[T] = []
        self._failures: list[BaseException] = []
        self._loops: list[asyncio.AbstractEventLoop] = []
        self._is_done = threading.Event()  # a join that is interrupted takes the thread for ended
        self._thread = threading.Thread(target=self._run, name="proctor")

    def wait(self) -> T:
        """The result; Ctrl-C finishes what is in flight before it is raised."""
        self._thread.start()
        try:
            self._is_done.wait()
        except KeyboardInterrupt:
            self._interrupt()
            self._is_done.wait()
            raise
        finally:
            self._thread.join()
        return self._result()

    async def wait_async(self) -> T:
        """The result, while the caller's event loop goes on; cancelling finishes what is in flight first."""
        self._thread.start()
        ended = asyncio.ensure_future(asyncio.to_thread(self._is_done.wait))
        try:
            await asyncio.shield(ended)
        except asyncio.CancelledError:
            self._interrupt()
            await ended
            raise
        finally:
            self._thread.join()
        return self._result()

    def _run(self) -> None:
        try:
            self._outcome.append(asyncio.run(self._entered()))
        except BaseException as error:  # noqa: BLE001 - handed to the caller by _result
            self._failures.append(error)
        finally:
            self._is_done.set()

    async def _entered(self) -> T:
        self._loops.append(asyncio.get_running_loop())
        return await self._work()

    def _interrupt(self) -> None:
        for loop in self._loops:
            loop.call_soon_threadsafe(self._stop)

    def _result(self) -> T:
        if self._failures:
            raise self._failures[0]
        return self._outcome[0]
