"""The supervisor's hold on one warm parent."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import cgroups
from .forking import REPORT

_START_SECONDS = 20
_OWN_PROCESSES = 2
"""The zygote, and the process that waits for it."""


class SandboxFaultError(Exception):
    """The sandbox itself failed: says nothing about what was to run in it."""


@dataclass(frozen=True)
class Ended:
    """How a child ended, as its parent saw it."""

    status: int
    cpu_seconds: float
    peak_bytes: int


def spawned(control: socket.socket, order: dict[str, Any], fds: list[int]) -> int:
    """Have the parent at the other end fork a child around these descriptors; returns one for the process."""
    try:
        socket.send_fds(control, [json.dumps(order).encode()], fds)
        message, given, _, _ = socket.recv_fds(control, 64, 1)
    except OSError as error:
        raise SandboxFaultError(f"a warm parent is lost: {error}") from error
    if message != b"started" or not given:
        raise SandboxFaultError("a warm parent is lost")
    return given[0]


class WarmParent:
    """A zygote in its own namespaces, user and control group."""

    is_disk_supervised = False
    carried: bytes | None = None
    extra_order: dict[str, Any] = {}  # noqa: RUF012  a child of ours has its order already

    def __init__(self, name: str, config: dict[str, Any]) -> None:
        self.is_alive = True
        self.cgroup = cgroups.Cgroup(name, is_used=config["is_using_cgroups"])
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        package = str(Path(__file__).parents[1])
        start = (
            f"import sys; sys.path.insert(0, {package!r}); from inside import zygote; zygote.main({theirs.fileno()})"
        )
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603  ourselves
                [sys.executable, "-s", "-S", "-P", "-B", "-c", start],
                pass_fds=[theirs.fileno()],
                # Symbols looked up once here are not looked up, page by copied page, in every child.
                env={**config["environment"], "LD_BIND_NOW": "1"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
            )
        self.cgroup.attach(self._process.pid)
        order = {**config, "parent": os.getpid(), "has_memory_cgroup": self.cgroup.has_memory}
        self.control.send(json.dumps(order).encode())
        self.control.settimeout(_START_SECONDS)
        try:
            answer = json.loads(self.control.recv(4096) or b'{"fault": "it ended at once"}')
        except (OSError, ValueError) as error:
            answer = {"fault": str(error)}
        if "fault" in answer:
            self.close()
            raise SandboxFaultError(f"a warm parent could not enter its sandbox: {answer['fault']}")
        self._base_bytes = self.cgroup.used_bytes()

    @property
    def exit_fd(self) -> int:
        """Readable when the child has ended."""
        return self.control.fileno()

    def prepare(self, limits: dict[str, Any]) -> None:
        """It is warm already."""

    def settle(self) -> None:
        """It is there already."""

    def limit(self, limits: dict[str, Any]) -> None:
        # A run's first process is not the run's own.
        self.cgroup.limit(
            limits["memory_bytes"] + self._base_bytes + (8 << 20), limits["processes"] + _OWN_PROCESSES + 1
        )

    @property
    def is_all_killed(self) -> bool:
        """Whether a child that was killed has left nobody: others in its namespaces are killed a moment after it."""
        return self.cgroup.has_processes and self.cgroup.occupants() <= _OWN_PROCESSES + 1

    def spawn(self, order: dict[str, Any], fds: list[int]) -> int:
        """Fork a child around these descriptors; returns a descriptor for the process."""
        try:
            return spawned(self.control, order, fds)
        except SandboxFaultError:
            self.is_alive = False
            raise

    def kill(self, pidfd: int) -> None:
        signal.pidfd_send_signal(pidfd, signal.SIGKILL)

    def collect(self, timeout_seconds: float) -> Ended | None:
        """How the child ended; None when the warm parent died with it."""
        ready, _, _ = select.select([self.control], [], [], timeout_seconds)
        data = b""
        if ready:
            with contextlib.suppress(OSError):
                data = self.control.recv(64)
        if len(data) != REPORT.size:
            self.is_alive = False
            return None
        status, user, system, peak = REPORT.unpack(data)
        return Ended(status, user + system, peak * 1024)

    def close(self) -> None:
        self.is_alive = False
        self.control.close()
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGKILL)
        self._process.wait()
        self.cgroup.remove()
