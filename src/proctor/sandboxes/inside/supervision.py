"""One run under supervision: its processes, its clock, what it writes, and how it ended."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import select
import signal
import socket
import struct
import time
from collections import Counter
from collections.abc import Callable
from typing import Any, Self

from . import kernel, syscalls
from .artifacts import Collector
from .cold import ColdParent
from .frames import Channel, ChannelClosedError
from .warm import Ended, SandboxFaultError, WarmParent

Parent = WarmParent | ColdParent

MAX_VIOLATIONS = 1_000
MAX_REPORT = 4 << 20
_REAP_SECONDS = 20
_CPU_CHECK_SECONDS = 0.25
_NAMES: dict[int, str] = {}


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


class _Child:
    def __init__(self, parent: Parent, control: socket.socket, pidfd: int) -> None:
        self.parent = parent
        self.control = control
        self.pidfd = pidfd
        self.exit_fd = parent.exit_fd
        self.ended: Ended | None = None
        self.is_done = False


class Run:
    """Everything opened for a run is closed, and everything started is dead, when its block ends."""

    def __init__(self, harness: int, limits: dict[str, Any]) -> None:
        self._limits = limits
        self._poll = select.poll()
        self._watched: dict[int, Callable[[int], None]] = {}
        self._children: dict[str, _Child] = {}
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
                self._before = _counters(parent)
            pidfd = parent.spawn(order, [theirs.fileno(), *fds])
        child = self._children[role] = _Child(parent, ours, pidfd)
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
        self._end_all()
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

    def _collect(self, child: _Child) -> None:
        self._unwatch(child.exit_fd)
        child.ended = child.parent.collect(_REAP_SECONDS)
        child.is_done = True

    def _end_all(self) -> None:
        for child in self._children.values():
            if not child.is_done:
                with contextlib.suppress(ProcessLookupError):
                    signal.pidfd_send_signal(child.pidfd, signal.SIGKILL)
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

    # Judgement

    def _classify(self, child: _Child, status: int | None) -> tuple[str, int | None, int | None]:
        """The ending, the exit code and the signal; a limit that was passed explains everything else."""
        after = _counters(child.parent)
        code = os.WEXITSTATUS(status) if status is not None and os.WIFEXITED(status) else None
        number = os.WTERMSIG(status) if status is not None and os.WIFSIGNALED(status) else None
        if self._ending is not None:
            return self._ending, None, None
        if after["memory"] > self._before["memory"]:
            return "memory", code, number
        if number is not None:
            spent = child.ended.cpu_seconds if child.ended else 0
            by_signal = {signal.SIGXCPU: "cpu", signal.SIGXFSZ: "file_size"}
            is_cpu = number == signal.SIGKILL and spent >= 0.9 * self._limits["cpu_seconds"]
            return "cpu" if is_cpu else by_signal.get(number, "crashed"), code, number  # type: ignore[call-overload]
        if code != 0 and after["forks"] > self._before["forks"]:
            return "processes", code, None
        return "exited", code, None

    def _spent(self, child: _Child) -> dict[str, Any]:
        cpu = self._cpu_seconds()
        ended = child.ended
        return {
            "seconds": time.monotonic() - self._started,
            "cpu_seconds": cpu if cpu is not None or ended is None else ended.cpu_seconds,
            "peak_memory_bytes": ended.peak_bytes if ended else None,
        }

    def _named_violations(self) -> dict[str, int]:
        if self._violations and not _NAMES:
            _NAMES.update({number: name for name, number in syscalls.numbers(syscalls.machine()).items()})
        return {_NAMES.get(number, str(number)): count for number, count in self._violations.items()}

    def _raise_faults(self, child: _Child) -> None:
        if self._fault is not None:
            raise SandboxFaultError(f"a child could not confine itself: {self._fault}")
        if not self._is_ready:
            said = bytes(self._output["stderr"]).decode(errors="replace").strip()[-300:]
            raise SandboxFaultError(f"nothing was started: {said or 'no reason was given'}")
        if child.ended is None and self._ending is None and _counters(child.parent)["memory"] <= self._before["memory"]:
            raise SandboxFaultError("a warm parent died during the run")

    def execution(self, *, collect: bool, token: bytes = b"") -> dict[str, Any]:
        child = self._children["program"]
        if child.parent.is_stdio and self._output["stderr"].startswith(token):
            self._is_ready = True
            del self._output["stderr"][: len(token)]
        self._raise_faults(child)
        if child.parent.is_stdio:
            return self._execution(child, child.ended.status if child.ended else None, collect=False)
        status = struct.unpack("=i", self._main_status)[0] if len(self._main_status) == 4 else None
        if status is None and child.ended is not None and child.ended.status == 0:
            raise SandboxFaultError("a program's first process ended without saying how the program did")
        if status is None and child.ended is not None:
            status = child.ended.status
        return self._execution(child, status, collect=collect)

    def _execution(self, child: _Child, status: int | None, *, collect: bool) -> dict[str, Any]:
        ending, code, number = self._classify(child, status)
        answer: dict[str, Any] = {
            "ending": self._refined(ending, code),
            "exit_code": code,
            "signal": number,
            "spent": self._spent(child),
            "violations": self._named_violations(),
            **{name: base64.b64encode(data).decode() for name, data in self._output.items()},
        }
        if collect and self._folder is not None:
            collector = Collector()
            collector.walk(self._folder)
            answer["files"] = {name: base64.b64encode(data).decode() for name, data in collector.files.items()}
            answer["refused_files"] = collector.refused
        return answer

    def _refined(self, ending: str, code: int | None) -> str:
        """Limits that a program meets as an error of its own: named when it failed and the error stands at its end."""
        if ending != "exited" or code == 0:
            return ending
        if self._folder is not None:
            disk = os.fstatvfs(self._folder)
            if disk.f_bavail == 0 or disk.f_favail == 0:
                return "disk"
        last = bytes(self._output["stderr"]).rstrip().rsplit(b"\n", 1)[-1]
        for text, name in _TELLING.items():
            if text in last:
                return name
        return ending

    def verdict(self) -> dict[str, Any]:
        child, judge = self._children["candidate"], self._children["judge"]
        self._raise_faults(child)
        frames = _frames(bytes(self._reports))
        if any("fault" in frame for frame in frames):
            raise SandboxFaultError(f"the judge could not confine itself: {frames[-1]['fault']}")
        if not frames or "ready" not in frames[0]:
            raise SandboxFaultError("the judge was not started")
        final = frames[-1] if frames else {}
        # Both must say so: the judge's last word, and its exit.
        passed = (
            self._ending is None and final.get("done") is True and judge.ended is not None and judge.ended.status == 0
        )
        ending = "exited" if passed else self._why(child, frames)
        return {
            "passed": passed,
            "ending": ending,
            "cases": [frame for frame in frames if "case" in frame],
            "final": {key: value for key, value in final.items() if key != "case"},
            "judge_is_lost": self._ending is None and not ({"done", "lost", "load", "unjudgeable"} & final.keys()),
            "spent": self._spent(child),
            "violations": self._named_violations(),
        }

    def _why(self, child: _Child, frames: list[dict[str, Any]]) -> str:
        is_lost = any("lost" in frame for frame in frames)
        status = child.ended.status if child.ended and is_lost else 0
        ending = self._classify(child, status)[0]
        text = next(
            (
                str(frame.get("message") or frame.get("load") or "")
                for frame in frames
                if frame.get("status") != "passed"
            ),
            "",
        )
        if ending == "exited":
            return next((name for mark, name in _TELLING.items() if mark.decode() in text), ending)
        return ending


# The last line of a failed Python program; a program that only pretends gains nothing: it failed.
_TELLING = {
    b"MemoryError": "memory",
    b"File too large": "file_size",
    b"No space left": "disk",
    b"Too many open files": "open_files",
}


def _counters(parent: Parent) -> dict[str, Any]:
    group = parent.cgroup
    return {"memory": group.memory_kills(), "forks": group.refused_forks(), "cpu": group.cpu_seconds()}


def _is_readable(fd: int) -> bool:
    return bool(select.select([fd], [], [], 0)[0])


def _frames(data: bytes) -> list[dict[str, Any]]:
    """The judge's reports; a last one that was cut off is left out."""
    found = []
    while len(data) >= 4:
        (length,) = struct.unpack_from(">I", data)
        if len(data) < 4 + length:
            break
        found.append(json.loads(data[4 : 4 + length]))
        data = data[4 + length :]
    return found
