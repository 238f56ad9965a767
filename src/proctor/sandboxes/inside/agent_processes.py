"""Who lives in a workspace, which command each belongs to, and how to end them all.

A command's processes are told apart by the number of system call filters they carry: each command is given one more
empty filter than the others, every descendant inherits it, and the filter itself forbids adding another. Unlike
sessions, parents and environments nothing a program does can change it, however often it forks and whoever adopts it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterable
from typing import NamedTuple

_TICKS = os.sysconf("SC_CLK_TCK")
_PASSES = 200
_STATUS = {"PPid", "Threads", "RssAnon", "RssShmem", "VmHWM", "Seccomp_filters"}


class WorkspaceProcess(NamedTuple):
    pid: int
    parent: int
    state: str
    threads: int
    memory: int
    """Resident and its own: anonymous and shared memory."""
    peak: int
    cpu_seconds: float
    """With the children it has waited for."""
    filters: int | None
    """None where this kernel does not say."""


def _read(path: str) -> str | None:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        return os.read(fd, 8192).decode(errors="replace")
    except OSError:
        return None
    finally:
        os.close(fd)


def member(pid: int) -> WorkspaceProcess | None:
    """What the kernel says of a process; None when it is gone."""
    text, line = _read(f"/proc/{pid}/status"), _read(f"/proc/{pid}/stat")
    if text is None or line is None:
        return None
    values = {}
    # At line feeds alone, which the kernel masks in a process's name: other ends of lines a program may put there.
    for row in text.split("\n"):
        name, _, value = row.partition(":")
        if name in _STATUS:
            values[name] = int(value.split()[0])
    fields = line.rpartition(")")[2].split()
    return WorkspaceProcess(
        pid,
        values.get("PPid", 0),
        fields[0],
        values.get("Threads", 1),
        (values.get("RssAnon", 0) + values.get("RssShmem", 0)) << 10,
        values.get("VmHWM", 0) << 10,
        sum(map(int, fields[11:15])) / _TICKS,
        values.get("Seccomp_filters"),
    )


def memory_kills() -> int:
    """How many were killed for want of memory in this control group, where it is shown in its usual workspace."""
    for path in ("/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control"):
        for row in (_read(path) or "").splitlines():
            name, _, value = row.partition(" ")
            if name == "oom_kill":
                return int(value)
    return 0


def shared_fairly(pid: int) -> int:
    """Memory of a process with shared pages divided among those who share them; dearer to ask for.

    Where that may not be asked, what it holds now: nothing once it has ended, for the others hold what it shared.
    """
    rows = dict(row.split(":", 1) for row in (_read(f"/proc/{pid}/smaps_rollup") or "").splitlines()[1:] if ":" in row)
    found = [int(rows[name].split()[0]) for name in ("Pss_Anon", "Pss_Shmem") if name in rows]
    if found:
        return sum(found) << 10
    now = member(pid)
    return now.memory if now is not None else 0


class Population:
    """Everyone below the agent. As the first process of a namespace that is everyone there is."""

    def __init__(self) -> None:
        self.own = os.getpid()
        self.is_first = self.own == 1
        me = member(self.own)
        self.base = me.filters if me is not None else None

    def everyone(self) -> list[WorkspaceProcess]:
        if self.is_first:
            names = os.listdir("/proc")  # noqa: PTH208
            return [one for name in names if name.isdigit() and name != "1" and (one := member(int(name)))]
        return [one for pid in self._below() if (one := member(pid))]

    def _below(self) -> list[int]:
        """Our descendants: where we are not first, there are others whom it is not for us to end."""
        found, waiting = [], [self.own]
        while waiting:
            pid = waiting.pop()
            try:
                threads = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208
            except OSError:
                continue  # gone meanwhile; its children are ours now, and found in the next look
            for thread in threads:
                children = [int(child) for child in (_read(f"/proc/{pid}/task/{thread}/children") or "").split()]
                found += children
                waiting += children
        return found

    def tag(self, one: WorkspaceProcess, mains: dict[int, int]) -> int:
        """The number of the command a process belongs to, 0 for nobody's."""
        # A command's first process is known by its number: until it has put on all its filters it looks like another's.
        if one.pid in mains:
            return mains[one.pid]
        if one.filters is not None and self.base is not None:
            return one.filters - self.base
        # Without the count only descent is left, and a process that lost its parents is nobody's.
        pid: int = one.pid
        for _ in range(64):
            if pid in mains:
                return mains[pid]
            above = member(pid)
            if above is None or above.parent in (0, self.own):
                return 0
            pid = above.parent
        return 0

    def end(self, is_meant: Callable[[WorkspaceProcess], bool], reap: Callable[[], None]) -> bool:
        """Stop them, then kill them: what is stopped cannot fork. False when some would not die."""

        def meant() -> set[int]:
            return {one.pid for one in self.everyone() if one.state != "Z" and is_meant(one)}

        left = meant()
        if not left:
            return True
        if self.is_first:
            # Everyone at once, the others for a moment, too: against a fork bomb no list is ever complete.
            _send_all(signal.SIGSTOP)
            send(meant(), signal.SIGKILL)
            _send_all(signal.SIGCONT)
        else:
            stopped: set[int] = set()
            for _ in range(_PASSES):
                send(left, signal.SIGSTOP)
                stopped |= left
                left = meant() - stopped
                if not left:
                    break
        for attempt in range(_PASSES):
            left = meant()
            if not left:
                return True
            send(left, signal.SIGKILL)
            reap()
            time.sleep(0.001 if attempt < 10 else 0.02)
        return False

    def end_everyone(self, reap: Callable[[], None]) -> bool:
        """The kernel's own way where we are first: nobody is forked past it."""
        if not self.is_first:
            return self.end(lambda _: True, reap)
        for attempt in range(_PASSES):
            try:
                os.kill(-1, signal.SIGKILL)
            except ProcessLookupError:
                return True
            reap()
            time.sleep(0 if attempt < 3 else 0.001 if attempt < 20 else 0.02)
        return False


def _send_all(number: int) -> None:
    """To everyone but the first process; only ever called by it, or it would be everyone on the machine."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(-1, number)


def send(pids: Iterable[int], number: int) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except (ProcessLookupError, PermissionError):
            continue  # gone meanwhile, or on its way


def offer_first(pid: int) -> None:
    """When memory runs out, it is a program that goes, not its agent; only what is already one is ours to write to."""
    with contextlib.suppress(OSError):
        fd = os.open(f"/proc/{pid}/oom_score_adj", os.O_WRONLY | os.O_CLOEXEC)
        try:
            os.write(fd, b"1000")
        finally:
            os.close(fd)
