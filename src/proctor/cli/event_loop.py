"""The way from a synchronous command into the event loop, with Ctrl-C handled."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def run_until_done(
    work: Callable[[], Coroutine[Any, Any, T]], on_interrupt: Callable[[], None], on_quit: Callable[[], None]
) -> T:
    """Run to the end; the first Ctrl-C (or SIGTERM) calls `on_interrupt`, the second `on_quit` and ends the process."""
    presses = 0

    def interrupted() -> None:
        nonlocal presses
        presses += 1
        if presses > 1:
            on_quit()
            os._exit(130)
        on_interrupt()

    async def guarded() -> T:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, interrupted)
        return await work()

    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        return runner.run(guarded())


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """uvloop where it is installed: the same loop at half the cost."""
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop
