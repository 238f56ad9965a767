"""The kernel's calls that Python has no name for, each raising OSError like those it has."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import socket
import struct
from typing import NamedTuple

from . import syscalls

NEWNS, NEWCGROUP, NEWUTS, NEWIPC = 0x00020000, 0x02000000, 0x04000000, 0x08000000
NEWUSER, NEWPID, NEWNET = 0x10000000, 0x20000000, 0x40000000
RDONLY, NOSUID, NODEV, NOEXEC, REMOUNT, NOATIME, BIND, REC = 1, 2, 4, 8, 32, 1024, 4096, 16384
PRIVATE = 1 << 18
DETACH = 2
SET_PDEATHSIG, SET_DUMPABLE, CAPBSET_DROP, SET_SECUREBITS, SET_CHILD_SUBREAPER, SET_NO_NEW_PRIVS = 1, 4, 24, 28, 36, 38
_SECCOMP_SET_FILTER, _NEW_LISTENER, _WAIT_KILLABLE = 1, 8, 32
_SET_INTERFACE_FLAGS, _INTERFACE_UP = 0x8914, 0x1
_NOTIFICATION, _ANSWER, _CONTINUE = 0xC0502100, 0xC0182101, 1

# PyDLL keeps the interpreter lock: these calls are short, and nothing else may run between them.
_libc = ctypes.PyDLL(None, use_errno=True)
_libc.mount.argtypes = (ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_ulong, ctypes.c_char_p)
_libc.umount2.argtypes = (ctypes.c_char_p, ctypes.c_int)
_libc.syscall.restype = ctypes.c_long
_libc.prctl.argtypes = (ctypes.c_int, *[ctypes.c_ulong] * 4)


def _checked(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def unshare(flags: int) -> None:
    _checked(_libc.unshare(flags), f"unshare({flags:#x})")


def setns(fd: int, kind: int) -> None:
    _checked(_libc.setns(fd, kind), "setns")


def mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    code = _libc.mount(os.fsencode(source), os.fsencode(target), kind.encode(), flags, options.encode())
    _checked(code, f"mount {kind or source} on {target}")


def unmount(target: str) -> None:
    _checked(_libc.umount2(os.fsencode(target), DETACH), f"umount {target}")


def _syscall(name: str, *arguments: object) -> int:
    return _checked(_libc.syscall(syscalls.numbers(syscalls.machine())[name], *arguments), name)


def pivot_root(new: str, old: str) -> None:
    _syscall("pivot_root", ctypes.c_char_p(os.fsencode(new)), ctypes.c_char_p(os.fsencode(old)))


def prctl(option: int, value: int = 0) -> None:
    _checked(_libc.prctl(option, value, 0, 0, 0), f"prctl({option})")


def die_with_parent(parent: int) -> None:
    """Be killed when the parent ends, also if it has ended just now."""
    prctl(SET_PDEATHSIG, 9)
    if os.getppid() != parent:
        os._exit(1)


def drop_bounding_set() -> None:
    for capability in range(64):
        try:
            prctl(CAPBSET_DROP, capability)
        except OSError:
            return


def drop_capabilities() -> None:
    """Give up every capability, with no way back through exec."""
    prctl(SET_NO_NEW_PRIVS, 1)
    header = struct.pack("Ii", 0x20080522, 0)
    _syscall("capset", ctypes.c_char_p(header), ctypes.c_char_p(bytes(24)))


def raise_loopback() -> None:
    """Bring up the one interface a new network namespace has."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SET_INTERFACE_FLAGS, struct.pack("16sH14x", b"lo", _INTERFACE_UP))


class _FilterProgram(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


class Filter:
    """A compiled filter, ready to be installed without further preparation."""

    def __init__(self, code: bytes) -> None:
        self._code = code
        self._program = _FilterProgram(len(code) // 8, code)
        self._number = syscalls.numbers(syscalls.machine())["seccomp"]

    def install(self, *, is_notifying: bool) -> int | None:
        """Bind this process for ever; returns the descriptor on which refusals are announced."""
        result = _checked(self._set(_NEW_LISTENER if is_notifying else 0), "seccomp")
        return result if is_notifying else None

    def install_patiently(self) -> int:
        """The same, announcing; signals do not cut short what is being looked at, where the kernel can (5.19)."""
        result = self._set(_NEW_LISTENER | _WAIT_KILLABLE)
        return int(result) if result >= 0 else _checked(self._set(_NEW_LISTENER), "seccomp")

    def _set(self, flags: int) -> int:
        arguments = (ctypes.c_uint(_SECCOMP_SET_FILTER), ctypes.c_uint(flags), ctypes.byref(self._program))
        result: int = _libc.syscall(ctypes.c_long(self._number), *arguments)
        return result


class Notice(NamedTuple):
    """A system call that waits for the supervisor's word."""

    ident: int
    thread: int
    number: int
    arguments: tuple[int, ...]


def next_notice(listener: int) -> Notice | None:
    """The next announced system call; None when its caller is gone."""
    notice = bytearray(80)
    try:
        fcntl.ioctl(listener, _NOTIFICATION, notice)
    except OSError:
        return None
    ident, thread, _, number = struct.unpack_from("QIIi", notice)
    return Notice(ident, thread, number, struct.unpack_from("6Q", notice, 32))


def answer_notice(listener: int, ident: int, error: int | None) -> bool:
    """Refuse the call with this error, or let it go on when there is none; False when its caller is gone."""
    answer = struct.pack("QqiI", ident, 0, 0 if error is None else -error, _CONTINUE if error is None else 0)
    try:
        fcntl.ioctl(listener, _ANSWER, bytearray(answer))
    except OSError:
        return False
    return True


def refuse_next(listener: int) -> int | None:
    """Answer one announced system call with "not permitted" and return its number; None when its caller is gone."""
    notice = next_notice(listener)
    return notice.number if notice is not None and answer_notice(listener, notice.ident, errno.EPERM) else None
