"""System calls the filter asks about: forbidden ones are refused and counted, connections and writes looked at."""

from __future__ import annotations

import errno
import fcntl
import socket
import struct
from collections import Counter
from typing import Any

from . import kernel, syscalls
from .agent_memory import UnseenError, memory
from .agent_writes import Writes

MAX_REFUSED = 1_000
_MAX_NAMES = 64
_DOMAIN_PORT = 53
_SET_FLAGS, _SYNC_WAKE_UP = 0x40082104, 1


class Notices:
    """What was refused in a workspace, whom its programs wanted to talk to, and what they wanted to change outside."""

    def __init__(self, *, is_seeing_writes: bool) -> None:
        table = syscalls.numbers(syscalls.machine())
        self._names = {number: name for name, number in table.items()}
        # Where the address and its length are among the arguments.
        self._addressed = {table["connect"]: (1, 2), table["sendto"]: (4, 5)}
        self.violations: Counter[str] = Counter()
        self.egress: Counter[str] = Counter()
        self.writes: Counter[str] = Counter()
        self._changing = Writes() if is_seeing_writes else None

    def answer(self, listener: int, counted: Counter[str]) -> None:
        """One waiting call; what is refused is counted for the workspace and for its command."""
        notice = kernel.next_notice(listener)
        if notice is not None:
            self.decide(listener, notice, counted)

    def decide(self, listener: int, notice: kernel.Notice, counted: Counter[str]) -> None:
        """Nothing is counted of a caller who is gone before its answer."""
        if self._changing is not None and notice.number in self._changing:
            found = self._changing.outside(notice)
            if kernel.answer_notice(listener, notice.ident, None):
                for path in found:
                    self._count(self.writes, path)
            return
        if notice.number not in self._addressed:
            self._refuse(
                listener, notice.ident, errno.EPERM, self._names.get(notice.number, str(notice.number)), counted
            )
            return
        at, length = (notice.arguments[index] for index in self._addressed[notice.number])
        target = outside(_address(notice.thread, at, min(length, 128)))
        if target is None:
            # Not a decision about safety: the network ends at its own loopback, whatever is in that memory by now.
            kernel.answer_notice(listener, notice.ident, None)
            return
        if self._refuse(listener, notice.ident, errno.ENETUNREACH, self._names[notice.number], counted):
            self._count(self.egress, target)

    def seen(self) -> dict[str, Any]:
        writes = dict(self.writes) if self._changing is not None else None
        return {"violations": dict(self.violations), "egress": dict(self.egress), "writes": writes}

    def _refuse(self, listener: int, ident: int, error: int, name: str, counted: Counter[str]) -> bool:
        """False when its caller is gone, and nothing is counted."""
        if not kernel.answer_notice(listener, ident, error):
            return False
        self._count(self.violations, name)
        counted[name] += 1
        return True

    @staticmethod
    def _count(counter: Counter[str], name: str) -> None:
        counter[name if name in counter or len(counter) < _MAX_NAMES else "others"] += 1


def wake_together(listener: int) -> None:
    """Have program and agent take turns on one processor, where the kernel can (6.6): each waits for the other."""
    try:
        fcntl.ioctl(listener, _SET_FLAGS, _SYNC_WAKE_UP)
    except OSError:
        return  # an older one, a little slower


def _address(thread: int, at: int, length: int) -> bytes:
    try:
        return memory(thread, at, length)
    except UnseenError:
        return b""


def outside(address: bytes) -> str | None:
    """Who is meant, when it is nobody in the workspace: another machine, or a name server that could tell of one."""
    if len(address) < 2:
        return "unreadable"
    (family,) = struct.unpack_from("=H", address)
    if family == socket.AF_INET and len(address) >= 8:
        (port,), host = struct.unpack_from(">H", address, 2), socket.inet_ntop(socket.AF_INET, address[4:8])
        is_own = host.startswith("127.") or host == "0.0.0.0"  # noqa: S104  the workspace's own
    elif family == socket.AF_INET6 and len(address) >= 24:
        (port,), host = struct.unpack_from(">H", address, 2), socket.inet_ntop(socket.AF_INET6, address[8:24])
        is_own = host in ("::1", "::") or host.startswith("::ffff:127.")
    else:
        return None
    if port == _DOMAIN_PORT:
        return "a name server"
    return None if is_own else f"{host if family == socket.AF_INET else f'[{host}]'}:{port}"
