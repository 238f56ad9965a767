"""One command in a workspace: started within limits, listened to, and judged by the limits it passed."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import socket
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from . import confinement, kernel, seccomp, syscalls
from .agent_processes import WorkspaceProcess

_READ = 1 << 16
_MORE_PROCESSES = 8
_MORE_MEMORY = 512 << 20
# What the interpreter and the agent have set for themselves: a program starts as from a shell.
_HANDLED = (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD)
_ALLOW_ALL = b"\x06\x00\x00\x00" + seccomp.ALLOW.to_bytes(4, "little")
# The last line of a failed program; one that only pretends gains nothing: it failed.
_TELLING = {
    b"MemoryError": "memory",
    b"JavaScript heap out of memory": "memory",
    b"Cannot allocate memory": "memory",
    b"File too large": "file_size",
    b"EFBIG": "file_size",
    b"No space left": "disk",
    b"ENOSPC": "disk",
    b"Too many open files": "open_files",
    b"EMFILE": "open_files",
    b"can't start new thread": "processes",
    b"Resource temporarily unavailable": "processes",
}


class Output:
    """What a program printed: its beginning, or for a service its end."""

    def __init__(self, limit: int, *, is_end_kept: bool) -> None:
        self._limit = limit
        self._is_end_kept = is_end_kept
        self._kept = bytearray()
        self.is_full = False

    def add(self, data: bytes) -> None:
        if self._is_end_kept:
            self._kept += data
            if len(self._kept) > 2 * self._limit + _READ:  # cut seldom: every cut moves what is kept
                del self._kept[: -self._limit]
        else:
            self._kept += data[: self._limit - len(self._kept) + 1]
            self.is_full = len(self._kept) > self._limit

    def value(self) -> bytes:
        return bytes(self._kept[-self._limit :] if self._is_end_kept else self._kept[: self._limit])


class RunningCommand:
    """A started command; `order` is what the harness asked for."""

    def __init__(self, order: dict[str, Any], tag: int, stdin: bytes) -> None:
        self.number: int = order["job"]
        self.tag = tag
        self.order = order
        self.limits: dict[str, Any] = order["limits"]
        self.is_service: bool = order["is_service"]
        self.pid = 0
        self.started = time.monotonic()
        self.deadline = self.started + self.limits["wall_seconds"]
        self.ending: str | None = None
        self.fault: str | None = None
        self.status: int | None = None
        self.violations: Counter[str] = Counter()
        self.signals: set[int] = set()
        self.pending = bytearray(stdin)
        self.is_stdin_open = True
        self.is_closing_stdin = not self.is_service
        self.disk_before = 0
        self.reaped_cpu = 0.0
        self.live_cpu = 0.0
        self.peak = 0
        limit = self.limits["output_bytes"]
        self.output = {name: Output(limit, is_end_kept=self.is_service) for name in ("stdout", "stderr")}
        self.fds: dict[str, int] = {}
        self.report: socket.socket | None = None
        self.listener: int | None = None

    # Starting

    def start(
        self, config: dict[str, Any], environment: dict[str, str], folder: str, chosen: kernel.Filter | None
    ) -> None:
        """Fork; what the child has to say before it becomes the program comes over `report`."""
        ours, theirs = socket.socketpair()
        pipes = [os.pipe() for _ in range(3)]
        child = [pipes[0][0], pipes[1][1], pipes[2][1]]
        try:
            self.pid = os.fork()
        except OSError:
            ours.close()
            theirs.close()
            for pair in pipes:
                os.close(pair[0])
                os.close(pair[1])
            raise
        if self.pid == 0:
            self._become(config, environment, folder, chosen, child, theirs)
        theirs.close()
        for fd in child:
            os.close(fd)
        self.report = ours
        self.fds = {"stdin": pipes[0][1], "stdout": pipes[1][0], "stderr": pipes[2][0]}
        for fd in self.fds.values():
            os.set_blocking(fd, False)

    def _become(  # noqa: PLR0913, RUF100  the child has nothing else
        self,
        config: dict[str, Any],
        environment: dict[str, str],
        folder: str,
        chosen: kernel.Filter | None,
        streams: list[int],
        report: socket.socket,
    ) -> None:
        try:
            os.setsid()
            for target, fd in enumerate(streams):
                os.dup2(fd, target)
            os.umask(0o022)
            self._limit(is_counting_users=config["is_counting_users"])
            for number in _HANDLED:
                signal.signal(number, signal.SIG_DFL)
            try:
                os.chdir(folder)
            except OSError as error:
                os.write(2, f"cannot work in {folder}: {error}\n".encode())
                os._exit(127)
            kernel.drop_capabilities()
            empty = kernel.Filter(_ALLOW_ALL)
            # With the filter itself, which is the last, the sum is the tag.
            for _ in range(self.tag - (chosen is not None)):
                empty.install(is_notifying=False)
            if chosen is not None:
                if config["is_notifying"]:
                    socket.send_fds(report, [b"l"], [chosen.install_patiently()])
                else:
                    chosen.install(is_notifying=False)
            self._exec(environment)
        except BaseException as error:  # noqa: BLE001  said to the agent, who knows it is the sandbox's own fault
            with contextlib.suppress(BaseException):
                report.send(f"f{type(error).__name__}: {error}".encode())
        finally:
            os._exit(127)

    def _exec(self, environment: dict[str, str]) -> None:
        command = self.order["command"]
        try:
            os.execvpe(command[0], command, environment)  # noqa: S606  the point of it
        except (OSError, ValueError) as error:
            os.write(2, f"cannot start {command[0]}: {error}\n".encode())
            os._exit(127 if isinstance(error, FileNotFoundError) else 126)

    def _limit(self, *, is_counting_users: bool) -> None:
        """Resource limits are the outer bound: the agent's own count of the whole command comes first."""
        memory = self.limits["memory_bytes"]
        # Threads reserve memory they never use, so a limit on reservations alone would stop honest programs.
        limits = {**self.limits, "memory_bytes": memory + max(memory, _MORE_MEMORY), "has_process_cgroup": True}
        confinement.limit(limits, is_address_space_limited=False)
        if is_counting_users:
            most = self.order["tasks"] + self.limits["processes"] + _MORE_PROCESSES
            hard = resource.getrlimit(resource.RLIMIT_NPROC)[1]
            resource.setrlimit(resource.RLIMIT_NPROC, (min(most, hard) if hard >= 0 else most,) * 2)

    # Listening

    def read(self, name: str) -> bool:
        """Take what is there; False when there will be no more."""
        try:
            data = os.read(self.fds[name], _READ)
        except BlockingIOError:
            return True
        output = self.output[name]
        output.add(data)
        if output.is_full and self.ending is None:
            self.ending = "output"
        return bool(data) and not output.is_full

    def drain(self, name: str) -> None:
        """What is left in a pipe nobody writes to any more; never more than a pipe holds."""
        for _ in range(64):
            try:
                data = os.read(self.fds[name], _READ)
            except BlockingIOError:
                return
            if not data:
                return
            self.output[name].add(data)
            if self.output[name].is_full:
                self.ending = self.ending or "output"
                return

    def feed(self) -> bool:
        """Write what the program will take; False when its standard input is done with."""
        try:
            while self.pending:
                del self.pending[: os.write(self.fds["stdin"], self.pending[:_READ])]
        except BlockingIOError:
            return True
        except OSError:
            self.pending.clear()
            return False
        return not self.is_closing_stdin

    # Judging

    def observe(self, members: list[WorkspaceProcess], fair: Callable[[int], int]) -> None:
        """Look at everyone of this command: what they hold together, and what they have used."""
        self.live_cpu = sum(one.cpu_seconds for one in members)
        self.peak = max(self.peak, *(one.peak for one in members), 0)
        if sum(one.threads for one in members) > self.limits["processes"]:
            # What they share is not asked for: the kernel answers after the forks under way, and they never cease.
            self.ending = self.ending or "processes"
            return
        held = sum(one.memory for one in members)
        if held > self.limits["memory_bytes"] and len(members) > 1:
            held = sum(fair(one.pid) for one in members)
        self.peak = max(self.peak, held)
        if self.ending is not None:
            return
        if held > self.limits["memory_bytes"]:
            self.ending = "memory"
        elif self.cpu_seconds() > self.limits["cpu_seconds"]:
            self.ending = "cpu"

    def cpu_seconds(self) -> float:
        return self.reaped_cpu + self.live_cpu

    def exited(self, status: int, usage: resource.struct_rusage) -> None:
        self.status = status
        self.reaped_cpu += usage.ru_utime + usage.ru_stime
        self.live_cpu = 0.0
        self.peak = max(self.peak, usage.ru_maxrss << 10)

    def spent(self) -> dict[str, Any]:
        return {
            "seconds": time.monotonic() - self.started,
            "cpu_seconds": self.cpu_seconds(),
            "peak_memory_bytes": self.peak or None,
        }

    def is_killed(self) -> bool:
        """Whether it ended by a signal to kill that nobody of ours sent."""
        is_by_signal = self.status is not None and os.WIFSIGNALED(self.status) and os.WTERMSIG(self.status) == 9
        return is_by_signal and self.ending is None and signal.SIGKILL not in self.signals

    def result(self, *, is_disk_full: bool) -> dict[str, Any]:
        status = self.status if self.status is not None else 9
        code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else None
        number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
        ending = self.ending or self._by_status(code, number, is_disk_full=is_disk_full)
        if self.ending is not None:
            code = number = None
        return {
            "ending": ending,
            "exit_code": code,
            "signal": number,
            "spent": self.spent(),
            "violations": dict(self.violations),
        }

    def _by_status(self, code: int | None, number: int | None, *, is_disk_full: bool) -> str:
        if number is not None:
            named = {int(signal.SIGXCPU): "cpu", int(signal.SIGXFSZ): "file_size"}.get(number)
            if named is None and number in self.signals:
                return "exited"
            if number == signal.SIGKILL and self.cpu_seconds() >= 0.9 * self.limits["cpu_seconds"]:
                return "cpu"
            return named or self._told() or "crashed"
        if code == 0:
            return "exited"
        return "disk" if is_disk_full else self._told() or "exited"

    def _told(self) -> str | None:
        text = self.output["stderr"].value().rstrip()[-4096:]
        last = text.rsplit(b"\n", 1)[-1]
        # Node.js tells more after the error itself.
        where = text if last.startswith(b"Node.js v") or b"JavaScript heap out of memory" in text else last
        return next((name for mark, name in _TELLING.items() if mark in where), None)

    def close(self) -> None:
        for fd in self.fds.values():
            os.close(fd)
        self.fds = {}
        if self.report is not None:
            self.report.close()
            self.report = None
        if self.listener is not None:
            os.close(self.listener)
            self.listener = None


def filter_for(config: dict[str, Any], *, is_seeing_writes: bool) -> kernel.Filter | None:
    if not config["is_filtered"]:
        return None
    code = seccomp.compile_filter(
        syscalls.machine(),
        profile="workspace",
        loopback=True,
        is_notifying=config["is_notifying"],
        is_seeing_writes=is_seeing_writes,
    )
    return kernel.Filter(code)
