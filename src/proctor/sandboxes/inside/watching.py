"""One run's processes, its clock and what it writes, watched until it ends."""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import time
from collections import Counter
from collections.abc import Callable
from typing import Any, Self

from . import kernel
from .cold import ColdParent
from .contained import ContainedParent
from .frames import Channel, ChannelClosedError
from .warm import Ended, WarmParent

Parent = WarmParent | ColdParent | ContainedParent

MAX_VIOLATIONS = 1_000
MAX_REPORT = 4 << 20
_REAP_SECONDS = 20
_CPU_CHECK_SECONDS = 0.25


class HarnessGoneError(Exception):
    """Nobody is waiting for the answer any more."""


def order_for(role: str, limits: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
    """What a child is told before it confines itself."""
    return {
        "role": role,
        "profile": "judge" if role == "judge" else "program",
        "loopback": False,
        "is_folder_wanted": False,
        "is_address_space_limited": True,
        **limits,
        **options,
    }


class SupervisedProcess:
    def __init__(self, parent: Parent, control: socket.socket, pidfd: int) -> None:
        self.parent = parent
        self.control = control
        self.pidfd = pidfd
        self.exit_fd = parent.exit_fd
        self.ended: Ended | None = None
        self.is_done = False


class Supervised:
    """Everything opened for a run is closed, and everything started is dead, when its block ends."""

    def __init__(self, harness: int, limits: dict[str, Any], on_killed: Callable[[], None] = lambda: None) -> None:
        """`on_killed` is called when nothing of the run computes any more: taking its world down is mostly waiting."""
        self._limits = limits
        self._on_killed = on_killed
        self._poll = select.poll()
        self._watched: dict[int, Callable[[int], None]] = {}
        self._children: dict[str, SupervisedProcess] = {}
        self._given: list[int] = []
        self._owned: list[int] = []
        self._piped: set[int] = set()
        self._started = time.monotonic()
        self._deadline = self._started + limits["wall_seconds"]
        self._ending: str | None = None
        self._violations: Counter[int] = Counter()
        self._reports = bytearray()
        self._output: dict[str, bytearray] = {"stdout": bytearray(), "stderr": bytearray()}
        self._main_status = bytearray()
        self._folder: int | None = None
        self._is_ready = False
        self._is_disk_supervised = False
        self._fault: str | None = None
        self._before: dict[str, Any] = {}
        self._watch(harness, self._on_harness)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end_all()
        for child in self._children.values():
            child.control.close()
            os.close(child.pidfd)
        self.close_given()
        for fd in self._owned:
            with contextlib.suppress(OSError):
                os.close(fd)

    # What the run is given

    @staticmethod
    def pair() -> tuple[socket.socket, socket.socket]:
        return socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)

    def streams(self, stdin: bytes) -> list[int]:
        """Standard input with these bytes, and captured standard output and error."""
        read_in, write_in = os.pipe()
        data = memoryview(stdin)
        os.set_blocking(write_in, False)
        self._own(write_in)
        if data:
            self._watch(write_in, self._feeder(data), select.POLLOUT)
        else:
            self._release(write_in)
        self._given.append(read_in)
        for name in ("stdout", "stderr"):
            read, write = os.pipe()
            self._own(read)
            self._piped.add(read)
            self._given.append(write)
            self._watch(read, self._reader(name))
        return list(self._given)

    def close_given(self) -> None:
        for fd in self._given:
            os.close(fd)
        self._given = []

    def start(
        self,
        parent: Parent,
        role: str,
        limits: dict[str, Any],
        fds: list[int],
        payload: dict[str, Any],
        options: dict[str, Any] | None = None,
    ) -> None:
        ours, theirs = self.pair()
        order = order_for(role, limits, {**parent.extra_order, **(options or {})})
        with theirs:
            if role != "judge":
                parent.limit(limits)
                self._before = counters(parent)
            pidfd = parent.spawn(order, [theirs.fileno(), *fds])
        child = self._children[role] = SupervisedProcess(parent, ours, pidfd)
        self._is_disk_supervised = parent.is_disk_supervised
        self._watch(child.exit_fd, lambda _: self._collect(child))
        self._watch(ours.fileno(), self._on_report if role == "judge" else self._on_ready)
        with contextlib.suppress(ChannelClosedError):  # a child that is already gone has said why, or its parent will
            channel = Channel(ours.fileno())
            if parent.carried is not None:
                channel.send(parent.carried)
            if parent.extra_order:
                channel.send(json.dumps(order).encode())
            channel.send(json.dumps(payload).encode())

    # Watching

    def _own(self, fd: int) -> None:
        self._owned.append(fd)

    def _watch(self, fd: int, handler: Callable[[int], None], events: int = select.POLLIN) -> None:
        self._watched[fd] = handler
        self._poll.register(fd, events)

    def _unwatch(self, fd: int) -> None:
        if self._watched.pop(fd, None) is not None:
            self._poll.unregister(fd)

    def _release(self, fd: int) -> None:
        self._unwatch(fd)
        self._piped.discard(fd)  # the next descriptor may get its number, and is no pipe to be drained
        if fd in self._owned:
            self._owned.remove(fd)
            os.close(fd)

    def wait_for(self, role: str) -> None:
        """Until that child has ended, or the run had to be ended."""
        child = self._children[role]
        next_check = self._started + _CPU_CHECK_SECONDS
        # A program is done when its main process is; whoever it left behind is ended with it.
        while not child.is_done and self._ending is None and len(self._main_status) < 4:
            now = time.monotonic()
            if now >= self._deadline:
                self._ending = "timeout"
                break
            if now >= next_check:
                next_check = now + _CPU_CHECK_SECONDS
                self._check_cpu()
                self._check_disk()
            self._step(min(self._deadline, next_check) - now)
        killed = self._kill_all()
        for child in killed:
            if not child.parent.is_all_killed:
                self._collect(child)
        self._on_killed()
        for child in killed:
            if not child.is_done:
                self._collect(child)
        self._drain()
        self._check_disk()

    def _step(self, seconds: float) -> bool:
        ready = self._poll.poll(max(0, int(seconds * 1000) + 1))
        for fd, events in ready:
            handler = self._watched.get(fd)
            if handler is not None:
                handler(events)
        return bool(ready)

    def _check_cpu(self) -> None:
        spent = self._cpu_seconds()
        if spent is not None and spent > self._limits["cpu_seconds"]:
            self._ending = "cpu"

    def _check_disk(self) -> None:
        """For tools that cannot limit a folder: looked at while the program runs, and when it has ended."""
        if self._folder is None or not self._is_disk_supervised:
            return
        disk = os.fstatvfs(self._folder)
        if (disk.f_blocks - disk.f_bfree) * disk.f_frsize > self._limits["disk_bytes"]:
            self._ending = self._ending or "disk"

    def _cpu_seconds(self) -> float | None:
        child = self._children.get("candidate") or self._children["program"]
        now, before = child.parent.cgroup.cpu_seconds(), self._before.get("cpu")
        return None if now is None or before is None else now - before

    def _collect(self, child: SupervisedProcess) -> None:
        self._unwatch(child.exit_fd)
        child.ended = child.parent.collect(_REAP_SECONDS)
        child.is_done = True

    def _kill_all(self) -> list[SupervisedProcess]:
        """Those that were killed just now."""
        living = [child for child in self._children.values() if not child.is_done]
        for child in living:
            with contextlib.suppress(ProcessLookupError):
                child.parent.kill(child.pidfd)
        return living

    def _end_all(self) -> None:
        for child in self._kill_all():
            self._collect(child)

    def _drain(self) -> None:
        """Read what dead processes left in the pipes."""
        for fd in list(self._watched):
            if fd in self._piped or any(fd == child.control.fileno() for child in self._children.values()):
                while fd in self._watched and _is_readable(fd):
                    self._watched[fd](select.POLLIN)

    def _on_harness(self, events: int) -> None:
        if events & (select.POLLHUP | select.POLLERR):
            self._end_all()
            raise HarnessGoneError
        # The harness sends nothing during a run; what it sends is the next order, read later.

    def _on_ready(self, _: int) -> None:
        """The confined child's descriptors, then only its end, or a program's status."""
        child = self._children.get("candidate") or self._children["program"]
        try:
            data, fds, _, _ = socket.recv_fds(child.control, 4096, 2)
        except OSError:
            data, fds = b"", []
        for fd in fds:
            self._own(fd)
        if not data:
            self._unwatch(child.control.fileno())
            return
        if data.startswith(b"ready"):
            self._is_ready = True
            self._take_descriptors(fds)
            data = data[5:]
            if not data:
                return
        if data.startswith(b"fault:"):
            self._fault = data[6:].decode(errors="replace")
        else:
            self._main_status += data[:64]

    def _take_descriptors(self, fds: list[int]) -> None:
        if "program" in self._children and fds:
            self._folder = fds.pop(0)
        for listener in fds:
            self._watch(listener, lambda events, listener=listener: self._on_refusal(listener, events))  # type: ignore[misc]

    def _on_refusal(self, listener: int, events: int) -> None:
        number = kernel.refuse_next(listener) if events & select.POLLIN else None
        if number is None:
            if events & (select.POLLHUP | select.POLLERR):
                self._release(listener)
            return
        self._violations[number] += 1
        if self._violations.total() > MAX_VIOLATIONS:
            self._ending = "violation"

    def _on_report(self, _: int) -> None:
        child = self._children["judge"]
        data = child.control.recv(1 << 16)
        self._reports += data
        if not data or len(self._reports) > MAX_REPORT:
            self._unwatch(child.control.fileno())

    def _reader(self, name: str) -> Callable[[int], None]:
        fd = self._owned[-1]
        kept, limit = self._output[name], self._limits["output_bytes"]

        def read(_: int) -> None:
            data = os.read(fd, 1 << 16)
            kept.extend(data[: limit - len(kept)])
            if not data:
                self._release(fd)
            elif len(kept) >= limit:
                self._ending = self._ending or "output"
                self._release(fd)

        return read

    def _feeder(self, data: memoryview) -> Callable[[int], None]:
        fd, rest = self._owned[-1], [data]

        def write(events: int) -> None:
            try:
                rest[0] = rest[0][os.write(fd, rest[0][:65536]) :] if not events & select.POLLERR else rest[0][:0]
            except BlockingIOError:
                return
            except BrokenPipeError:
                rest[0] = rest[0][:0]
            if not rest[0]:
                self._release(fd)

        return write


def counters(parent: Parent) -> dict[str, Any]:
    group = parent.cgroup
    return {"memory": group.memory_kills(), "forks": group.refused_forks(), "cpu": group.cpu_seconds()}


def _is_readable(fd: int) -> bool:
    return bool(select.select([fd], [], [], 0)[0])
