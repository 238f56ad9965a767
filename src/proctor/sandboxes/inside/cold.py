"""The supervisor's hold on programs started through another tool, one process tree per run."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import cgroups
from .reaping import REAPER, Reaped
from .warm import Ended, SandboxFaultError

_OWN_BYTES = 48 << 20  # the tool and its init, before any code is read
_OWN_PROCESSES = 6
_DIE_SECONDS = 10.0
_READER = """import struct
f = open({fd}, 'rb', 0, closefd=False)
n, t = struct.unpack('>I', f.read(4))[0], b''
while len(t) < n: t += f.read(n - len(t))
exec(t)"""


class ColdParent:
    """Starts each child with the backend's command; the same face as a warm parent."""

    is_all_killed = False
    """Whether killing a child kills all that it started; here that is killed when the child is collected."""

    def __init__(self, name: str, config: dict[str, Any]) -> None:
        self.is_alive = True
        self.cgroup = cgroups.Cgroup(name, is_used=config["is_using_cgroups"])
        self._config = config
        self.is_disk_supervised = bool(config.get("is_disk_supervised"))
        self._is_carrying = bool(config.get("is_carrying"))
        self._numbers = ""
        self.extra_order = {
            "has_memory_cgroup": self.cgroup.has_memory,
            "has_process_cgroup": self.cgroup.has_processes,
            "is_notifying": config["is_notifying"],
            "is_filtered": config["is_filtered"],
            "work": "/tmp/work",  # noqa: S108  the sandbox's own
        }
        self._folder: str | None = None
        if config.get("is_hosted"):
            self.extra_order["work"] = self._folder = tempfile.mkdtemp(prefix="proctor-")
        self._process: subprocess.Popen[bytes] | None = None
        self._pidfd = -1

    @property
    def exit_fd(self) -> int:
        """Readable when the child has ended."""
        return self._pidfd

    @property
    def carried(self) -> bytes | None:
        """The code for the inside, sent first where the tool shows no folder of ours and takes no long arguments."""
        return f"{self._config['inside']}\n{self._entry(self._numbers)}".encode() if self._is_carrying else None

    def prepare(self, limits: dict[str, Any]) -> None:
        """Everything is started with the run."""

    def settle(self) -> None:
        """There is nothing to wait for."""

    def limit(self, limits: dict[str, Any]) -> None:
        self.cgroup.limit(limits["memory_bytes"] + _OWN_BYTES, limits["processes"] + _OWN_PROCESSES)

    def _command(self, order: dict[str, Any], kept: list[int]) -> list[str]:
        values = {
            "uid": self._config["host_uid"],
            "disk": order["disk_bytes"],
            "memory": order["memory_bytes"],
            "cpu": max(1, round(order["cpu_seconds"])),
            "files": order["open_files"],
            "processes": order["processes"] + _OWN_PROCESSES,
            "file": order["file_bytes"],
            "fds": ",".join(map(str, kept)),
            "fd0": kept[0],
            "fd1": kept[-1],
        }
        numbers = self._numbers = ", ".join(map(str, kept))
        start = f"{self._config['inside']}\n{self._entry(numbers)}"
        if self._is_carrying:
            start = _READER.format(fd=kept[0])
        prefix = [part.format(**values) for part in self._config["prefix"]]
        return [*prefix, self._config["python"], "-s", "-S", "-P", "-B", "-c", start]

    def _entry(self, numbers: str) -> str:
        return f"from inside import tool_init\ntool_init.main({numbers})"

    def spawn(self, order: dict[str, Any], fds: list[int]) -> int:
        """Start the tool around these descriptors; returns one for its process."""
        if self._folder is not None:
            _empty(self._folder)
        kept, streams = fds, [subprocess.DEVNULL, subprocess.DEVNULL, subprocess.DEVNULL]
        if order["role"] == "program":
            kept, streams = fds[:1], fds[1:]
        with self._inside_cgroup():
            try:
                self._process = subprocess.Popen(  # noqa: S603  the backend's own command
                    self._command(order, kept),
                    pass_fds=kept,
                    env=self._config["environment"],
                    stdin=streams[0],
                    stdout=streams[1],
                    stderr=streams[2],
                    start_new_session=True,
                    cwd="/",
                )
            except OSError as error:
                raise SandboxFaultError(f"cannot start {self._command(order, kept)[0]}: {error}") from error
        REAPER.start(self._process.pid)
        self._pidfd = os.pidfd_open(self._process.pid)
        return os.dup(self._pidfd)

    @contextlib.contextmanager
    def _inside_cgroup(self) -> Iterator[None]:
        """Be in the group while starting: whatever the tool forks is born there; attaching later is too late."""
        home = {controller: _own_group(controller) for controller in self.cgroup.folders}
        self.cgroup.attach(os.getpid())
        try:
            yield
        finally:
            for controller, folder in home.items():
                (self.cgroup.folders[controller].parents[0] / folder / "cgroup.procs").write_text(str(os.getpid()))

    def kill(self, pidfd: int) -> None:
        signal.pidfd_send_signal(pidfd, signal.SIGKILL)

    def collect(self, timeout_seconds: float) -> Ended | None:
        """How the tool ended; whoever is left in its group is killed."""
        process = self._process
        if process is None:
            return None
        deadline = time.monotonic() + timeout_seconds
        while (reaped := REAPER.take(process.pid)) is None:
            if time.monotonic() >= deadline:
                return None
            time.sleep(0.002)
        process.returncode = os.waitstatus_to_exitcode(reaped.status)
        self._process = None
        os.close(self._pidfd)
        # A tool that was killed has not waited for what it started, and its own usage is not the program's.
        all_of_it = [reaped, *self._end_stragglers()]
        return Ended(
            self._signalled(reaped.status),
            sum(one.cpu_seconds for one in all_of_it),
            max(one.peak_bytes for one in all_of_it),
        )

    def _signalled(self, status: int) -> int:
        """What a tool says with an exit code over 128: the child's signal."""
        code = os.waitstatus_to_exitcode(status)
        return code - 128 if self._config["prefix"] and 128 < code <= 128 + signal.NSIG else status

    def _end_stragglers(self) -> list[Reaped]:
        """Kill whoever is left in the group and wait until nobody counts in it; returns those that we adopted."""
        deadline = time.monotonic() + _DIE_SECONDS
        adopted = REAPER.take_adopted()
        while self.cgroup.occupants() and time.monotonic() < deadline:
            for pid in self.cgroup.members():
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.002)
            adopted += REAPER.take_adopted()
        return adopted

    def close(self) -> None:
        self.is_alive = False
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                self.kill(self._pidfd)
            self.collect(_DIE_SECONDS)
        self.cgroup.remove()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


def _empty(folder: str) -> None:
    """Nothing of one run is there for the next."""
    for name in os.listdir(folder):  # noqa: PTH208
        path = os.path.join(folder, name)  # noqa: PTH118  names here may be anything
        if os.path.isdir(path) and not os.path.islink(path):  # noqa: PTH112, PTH114
            shutil.rmtree(path, ignore_errors=True)
        else:
            os.unlink(path)  # noqa: PTH108


def _own_group(controller: str) -> str:
    """Our own place in a hierarchy, below its top."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, names, path = line.split(":", 2)
        if controller in names.split(",") or (controller == "unified" and not names):
            return path.lstrip("/")
    return ""
