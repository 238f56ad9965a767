"""A parent that forks one child at a time. It is handed descriptors and never reads code."""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import signal
import socket
import struct
from typing import Any

from . import children

REPORT = struct.Struct("=iddq")
# Not threading, nor what imports it: its work after every fork would cost as much as the fork.
_PRELOADED = {
    "judge": "collections collections.abc copy itertools linecache math re reprlib traceback typing",
    "candidate": """abc array bisect cmath collections collections.abc contextlib copy dataclasses datetime decimal
    enum fractions functools heapq io itertools json linecache math numbers operator random re statistics string struct
    textwrap time traceback types typing unicodedata""",
}


class Forker:
    """Serves the supervisor at the other end of `control` until it hangs up."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control

    def serve(self) -> None:
        while True:
            message, fds, _, _ = socket.recv_fds(self._control, 4096, 8)
            if not message:
                os._exit(0)
            self._fork(json.loads(message), fds)

    def _fork(self, order: dict[str, Any], fds: list[int]) -> None:
        pid = self._separate(order)
        if pid == 0:
            self._be_child(order, fds)
        for fd in fds:
            os.close(fd)
        pidfd = os.pidfd_open(pid)
        socket.send_fds(self._control, [b"started"], [pidfd])
        os.close(pidfd)
        self._control.send(self._wait(pid))

    def _separate(self, order: dict[str, Any]) -> int:  # noqa: ARG002  some separate more than others
        return os.fork()

    def _wait(self, pid: int) -> bytes:
        """What the supervisor is told of a child's end."""
        _, status, usage = os.wait4(pid, 0)
        return REPORT.pack(status, usage.ru_utime, usage.ru_stime, usage.ru_maxrss)

    def _be_child(self, order: dict[str, Any], fds: list[int]) -> None:
        """Never returns: whatever happens, the child ends here."""
        code = 70
        try:
            os.setsid()
            children.place(order["role"], fds)
            code = children.run(order, self.confine)
        except BaseException as error:  # noqa: BLE001  said to the supervisor, who knows it is the sandbox's own fault
            with contextlib.suppress(BaseException):
                children.report_fault(order["role"], f"{type(error).__name__}: {error}")
        finally:
            os._exit(code)

    def confine(self, order: dict[str, Any], control: socket.socket) -> None:
        """Take away everything that is not needed to compute; the last step before code is read."""
        raise NotImplementedError


def preload(role: str) -> None:
    """What most programs import, once for all of them."""
    for name in _PRELOADED[role].split():
        importlib.import_module(name)
    add_site_builtins()


def add_site_builtins() -> None:
    import site

    site.setquit()
    site.setcopyright()
    site.sethelper()


def settle() -> None:
    """Nothing allocated so far is ever freed: keep the collector from touching, and so copying, its pages."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)  # the supervisor ignores them; programs do not
    signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.collect()
    gc.freeze()
