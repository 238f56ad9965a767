"""System calls the filter asks about: forbidden ones are refused and counted, connections looked at."""

from __future__ import annotations

import errno
import os
import socket
import struct
from collections import Counter

from . import kernel, syscalls

MAX_REFUSED = 1_000
_MAX_NAMES = 64
_DOMAIN_PORT = 53


class Notices:
    """What was refused in a place, and whom its programs wanted to talk to."""

    def __init__(self) -> None:
        table = syscalls.numbers(syscalls.machine())
        self._names = {number: name for name, number in table.items()}
        # Where the address and its length are among the arguments.
        self._addressed = {table["connect"]: (1, 2), table["sendto"]: (4, 5)}
        self.violations: Counter[str] = Counter()
        self.egress: Counter[str] = Counter()

    def answer(self, listener: int, counted: Counter[str]) -> None:
        """One waiting call; what is refused is counted for the place and for its command."""
        notice = kernel.next_notice(listener)
        if notice is None:
            return
        if notice.number not in self._addressed:
            self._refuse(
                listener, notice.ident, errno.EPERM, self._names.get(notice.number, str(notice.number)), counted
            )
            return
        at, length = (notice.arguments[index] for index in self._addressed[notice.number])
        target = outside(_memory(notice.thread, at, min(length, 128)))
        if target is None:
            # Not a decision about safety: the network ends at its own loopback, whatever is in that memory by now.
            kernel.answer_notice(listener, notice.ident, None)
            return
        self._count(self.egress, target)
        self._refuse(listener, notice.ident, errno.ENETUNREACH, self._names[notice.number], counted)

    def _refuse(self, listener: int, ident: int, error: int, name: str, counted: Counter[str]) -> None:
        if kernel.answer_notice(listener, ident, error):
            self._count(self.violations, name)
            counted[name] += 1

    @staticmethod
    def _count(counter: Counter[str], name: str) -> None:
        counter[name if name in counter or len(counter) < _MAX_NAMES else "others"] += 1


def _memory(thread: int, address: int, length: int) -> bytes:
    """Bytes of a process that waits for our answer; nothing when it does not let us look."""
    try:
        fd = os.open(f"/proc/{thread}/mem", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.pread(fd, length, address)
    except (OSError, OverflowError):
        return b""
    finally:
        os.close(fd)


def outside(address: bytes) -> str | None:
    """Who is meant, when it is nobody in the place: another machine, or a name server that could tell of one."""
    if len(address) < 2:
        return "unreadable"
    (family,) = struct.unpack_from("=H", address)
    if family == socket.AF_INET and len(address) >= 8:
        (port,), host = struct.unpack_from(">H", address, 2), socket.inet_ntop(socket.AF_INET, address[4:8])
        is_own = host.startswith("127.") or host == "0.0.0.0"  # noqa: S104  the place's own
    elif family == socket.AF_INET6 and len(address) >= 24:
        (port,), host = struct.unpack_from(">H", address, 2), socket.inet_ntop(socket.AF_INET6, address[8:24])
        is_own = host in ("::1", "::") or host.startswith("::ffff:127.")
    else:
        return None
    if port == _DOMAIN_PORT:
        return "a name server"
    return None if is_own else f"{host if family == socket.AF_INET else f'[{host}]'}:{port}"
