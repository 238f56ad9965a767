"""Ties a process to the one that started it: however that ends, nothing of it is left behind."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

SET_PDEATHSIG = 1
GONE = 71
"""The exit code of a process whose parent was gone before it could be tied to it."""


def children_of(pid: int) -> list[int]:
    """The processes that this one has started and that live; none where the system does not tell."""
    found: list[int] = []
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += [int(text) for text in path.read_text().split()]
    return found


def die_with(parent: int) -> None:
    """Be killed by the kernel when the process `parent`, which forked this one, ends; on Linux only.

    A lost parent's children would announce, and hold, chunks for nobody. What they were doing is taken up by others.
    """
    if sys.platform != "linux":
        return
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(SET_PDEATHSIG, ctypes.c_ulong(signal.SIGKILL), *[ctypes.c_ulong(0)] * 3):
        raise OSError(ctypes.get_errno(), "this process cannot be tied to its parent")
    if os.getppid() != parent:  # it ended before this process had asked to hear of it
        os._exit(GONE)


class EndingNews:
    """Tells forked children that their parent was told to end, and the parent when none of them works any more.

    Made before they are forked.
    """

    def __init__(self) -> None:
        self._reading, self._writing = os.pipe()
        # Read to its end when everybody who could write to it has let go of it, or is dead.
        self._all_left, self._working = os.pipe()
        self._letting_go = threading.Lock()

    def tell(self) -> None:
        """In the parent, where a signal may have interrupted anything."""
        os.write(self._writing, b"!")

    def follow(self, loop: asyncio.AbstractEventLoop, call: Callable[[], object]) -> None:
        """In a child: call it once in this loop, where this is called from, too."""

        def heard() -> None:
            loop.remove_reader(self._reading)
            call()

        loop.add_reader(self._reading, heard)  # nobody reads what was written: all children are to see it

    def let_go(self) -> None:
        """In a forked process that works on nothing any more, or never does; twice is harmless."""
        with self._letting_go:
            working, self._working = self._working, -1
        if working >= 0:
            os.close(working)

    def wait_for_children(self) -> None:
        """In a thread of the parent: until it was told to end, and no child works on anything."""
        select.select([self._reading], [], [])
        self.let_go()
        os.read(self._all_left, 1)


def end_in_time(news: EndingNews, seconds: float, end: Callable[[], object]) -> None:
    """Call `end` in a thread when this process is still there so long after its children's work was done.

    It is started before there is anything to end: in a signal handler, no thread can be.
    """

    def watch() -> None:
        news.wait_for_children()
        time.sleep(seconds)
        end()

    threading.Thread(target=watch, name="ending", daemon=True).start()
