"""How the children of this process ended, those included that it adopts when their own parent ends before them.

A process that has ended and that nobody waits for still counts in its control group. A tool that is killed leaves such
behind, and the machine's first process may wait for them late, or never, as in a container.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from . import kernel


@dataclass(frozen=True)
class Reaped:
    """A child that has ended and is gone, with all that it had waited for itself."""

    status: int
    cpu_seconds: float
    peak_bytes: int


class Reaper:
    """Waits for children without blocking; there is one for a process, because `wait` takes whoever has ended."""

    def __init__(self) -> None:
        self._is_adopting = False
        self._started: set[int] = set()
        self._ended: dict[int, Reaped] = {}
        self._adopted: list[Reaped] = []

    def adopt_orphans(self) -> None:
        """From now on every child of this process must be one that `start` is told of."""
        kernel.prctl(kernel.SET_CHILD_SUBREAPER, 1)
        self._is_adopting = True

    def start(self, pid: int) -> None:
        self._started.add(pid)

    def take(self, pid: int) -> Reaped | None:
        """How a child that was started has ended; None while it has not."""
        self._wait()
        found = self._ended.pop(pid, None)
        if found is not None:
            self._started.discard(pid)
        return found

    def take_adopted(self) -> list[Reaped]:
        """Those adopted that have ended since the last time."""
        self._wait()
        found, self._adopted = self._adopted, []
        return found

    def _wait(self) -> None:
        wanted = [-1] if self._is_adopting else [*(self._started - self._ended.keys())]
        while wanted:
            found = _wait_for(wanted[-1])
            if found is None:
                wanted.pop()
                continue
            pid, reaped = found
            if pid in self._started:
                self._ended[pid] = reaped
            else:
                self._adopted.append(reaped)


def _wait_for(wanted: int) -> tuple[int, Reaped] | None:
    try:
        pid, status, usage = os.wait4(wanted, os.WNOHANG)
    except ChildProcessError:
        return None
    return (pid, Reaped(status, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)) if pid else None


REAPER = Reaper()
