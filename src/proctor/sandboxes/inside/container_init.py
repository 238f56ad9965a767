"""The first process of a container: comes to the supervisor's socket, then forks whatever is ordered through it.

It may change users and end processes, and nothing else; what it forks is another user and can do nothing to it.
"""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import socket
from typing import Any

from . import kernel, tool_init
from .forking import REPORT, Forker, preload, settle

CONTROL_SOCKET = "/run/proctor/control"
_WRITABLE = ("/tmp", "/dev/shm")  # noqa: S108  the container's own


class ContainerInit(Forker):
    """When a child has ended, nothing it started is left, and only then is its end told."""

    def _fork(self, order: dict[str, Any], fds: list[int]) -> None:
        if order["role"] == "wipe":
            self._control.send(b"clean" if _wipe(order["uid"]) else b"dirty")
        else:
            super()._fork(order, fds)

    def confine(self, order: dict[str, Any], control: socket.socket) -> None:
        _become(order["uid"])
        kernel.prctl(kernel.SET_DUMPABLE, 1)  # the child's own files in /proc are its own again
        tool_init.confine(order, control)

    def _wait(self, pid: int) -> bytes:
        ended, control_socket = os.pidfd_open(pid), self._control.fileno()
        ready, _, _ = select.select([control_socket, ended], [], [])
        os.close(ended)
        if control_socket in ready:
            os._exit(0)  # the supervisor has hung up: the container ends with its first process
        _, status, usage = os.wait4(pid, 0)
        _end_others()
        return REPORT.pack(status, usage.ru_utime, usage.ru_stime, usage.ru_maxrss)


def _become(uid: int) -> None:
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


def _end_others() -> None:
    with contextlib.suppress(ChildProcessError):
        while True:
            with contextlib.suppress(ProcessLookupError):
                os.kill(-1, signal.SIGKILL)  # never reaches ourselves
            os.waitpid(-1, 0)


def _wipe(uid: int) -> bool:
    """Whether everything the last child wrote is gone; done as its user, because only that one may."""
    pid = os.fork()
    if pid == 0:
        try:
            _become(uid)
            for top in _WRITABLE:
                _empty(top)
        finally:
            os._exit(0)
    os.waitpid(pid, 0)
    return not any(os.listdir(top) for top in _WRITABLE)  # noqa: PTH208


def _empty(top: str) -> None:
    for entry in os.scandir(top):
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path, ignore_errors=True)
        else:
            os.unlink(entry.path)  # noqa: PTH108


def main(role: str) -> None:
    preload(role)
    control_socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    control_socket.connect(CONTROL_SOCKET)
    kernel.prctl(kernel.SET_DUMPABLE, 0)  # nobody in here may look into us
    settle()
    ContainerInit(control_socket).serve()
