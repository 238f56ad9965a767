# ruff: noqa: PTH116, PTH123
# Plain os calls on bytes: a path is what the kernel takes it for.
"""Attempts to change files outside a workspace's folders, told from the system calls that ask for it.

Nothing is refused here, and nothing needs to be: whatever is outside is mounted read-only or belongs to somebody else.
A program that changes a path while it is being looked at can hide an attempt, and gains nothing else.
"""

from __future__ import annotations

import os
import re
import socket
import stat
from typing import NamedTuple

from . import kernel, syscalls
from .agent_memory import UnseenError, memory, path_at, peek
from .agent_paths import HERE, base_of, door_to, is_outside, own_devices, resolved, shown

UNREADABLE = "a path that could not be read"
_NOT_FOLLOWING, _ITSELF = 0x100, 0x1000
_STAYING = 0x08 | 0x10  # RESOLVE_BENEATH, RESOLVE_IN_ROOT
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_NEW = os.O_CREAT | os.O_EXCL


class _Target(NamedTuple):
    """Which arguments name a file, and whether a link at its end is followed; without a path it is a descriptor."""

    folder: int | None
    path: int | None
    is_followed: bool = False


class _Manner(NamedTuple):
    """How a call wants its paths taken."""

    is_following: bool = True
    is_staying: bool = False
    """Never leaving the folder it begins in, `/` and links included."""
    is_itself: bool = False
    """An empty path stands for the descriptor."""


_USUAL = _Manner()
_ONE, _ONE_AT = (_Target(None, 0),), (_Target(0, 1),)
_FOLLOWED, _FOLLOWED_AT = (_Target(None, 0, is_followed=True),), (_Target(0, 1, is_followed=True),)
_TARGETS: dict[str, tuple[_Target, ...]] = {
    "open": _FOLLOWED,
    "openat": _FOLLOWED_AT,
    "openat2": _FOLLOWED_AT,
    "creat": _FOLLOWED,
    "truncate": _FOLLOWED,
    "chmod": _FOLLOWED,
    "fchmodat": _FOLLOWED_AT,
    "fchmod": (_Target(0, None),),
    "chown": _FOLLOWED,
    "lchown": _ONE,
    "fchown": (_Target(0, None),),
    "fchownat": _FOLLOWED_AT,
    "utime": _FOLLOWED,
    "utimes": _FOLLOWED,
    "futimesat": _FOLLOWED_AT,
    "utimensat": _FOLLOWED_AT,
    "mkdir": _ONE,
    "mkdirat": _ONE_AT,
    "rmdir": _ONE,
    "unlink": _ONE,
    "unlinkat": _ONE_AT,
    "rename": (_Target(None, 0), _Target(None, 1)),
    "renameat": (_Target(0, 1), _Target(2, 3)),
    "renameat2": (_Target(0, 1), _Target(2, 3)),
    "link": (_Target(None, 1),),
    "linkat": (_Target(2, 3),),
    "symlink": (_Target(None, 1),),
    "symlinkat": (_Target(1, 2),),
}
_OPENING = {"open": 1, "openat": 2, "openat2": 2}
"""Where the flags are, or a pointer to them."""
_FLAGGED = {"utimensat": 3, "fchownat": 4}
"""Where those flags are that say how a path is taken."""
_MAKING = ("mkdir", "mkdirat")
_BIND = "bind"


def can_be_seen() -> bool:
    """Whether this kernel lets an agent look at its programs' calls and let them go on."""
    try:
        with open("/proc/sys/kernel/yama/ptrace_scope", "rb") as file:
            scope = file.read()
    except FileNotFoundError:
        scope = b"0"  # without that module nobody is kept from looking at children
    except OSError:
        return False
    return is_enough(os.uname().release, scope)


def is_enough(release: str, scope: bytes) -> bool:
    """From 5.5 on a call that was looked at can go on; the two highest scopes let nobody look at a child's memory."""
    version = re.match(r"(\d+)\.(\d+)", release)
    is_new = version is not None and (int(version[1]), int(version[2])) >= (5, 5)
    return is_new and scope.strip() in (b"0", b"1")


class Writes:
    """Looks at one waiting call after the other; only what lies outside has a name."""

    def __init__(self) -> None:
        table = syscalls.numbers(syscalls.machine())
        self._names = {table[name]: name for name in (*_TARGETS, _BIND) if name in table}
        with open("/proc/self/mountinfo", "rb") as file:
            self._devices = own_devices(file.read())

    def __contains__(self, number: int) -> bool:
        return number in self._names

    def outside(self, notice: kernel.Notice) -> list[str]:
        """What the call would change outside the workspace's folders, named so that it can be shown."""
        try:
            return [shown(path) for path in self._paths(notice) if is_outside(path, notice.thread)]
        except UnseenError:
            return [UNREADABLE]

    def _paths(self, notice: kernel.Notice) -> list[bytes]:
        """What it would change, leaving out what is plainly inside."""
        name = self._names[notice.number]
        manner = _USUAL
        if name == _BIND:
            path = _socket_path(notice)
            found = [self._led(notice.thread, HERE, path, is_following=False)] if path else []
        else:
            if name in _OPENING:
                flags, how = _open_flags(name, notice)
                if not flags & _WRITING or flags & os.O_PATH:
                    return []
                is_following = not (flags & os.O_NOFOLLOW or flags & _NEW == _NEW)
                if how & _STAYING or not is_following:
                    manner = _Manner(is_following, is_staying=bool(how & _STAYING))
            elif name in _FLAGGED:
                flags = notice.arguments[_FLAGGED[name]]
                manner = _Manner(not flags & _NOT_FOLLOWING, is_itself=bool(flags & _ITSELF))
            found = [self._target(notice, one, manner) for one in _TARGETS[name]]
        return [path for path in found if path is not None and (name not in _MAKING or _is_next(path))]

    def _target(self, notice: kernel.Notice, target: _Target, manner: _Manner) -> bytes | None:
        folder = HERE if target.folder is None else notice.arguments[target.folder] & 0xFFFFFFFF
        address = 0 if target.path is None else notice.arguments[target.path]
        if address == 0:
            # A descriptor itself, which may have been opened for reading only.
            return self._opened(notice.thread, folder) if folder != HERE else None
        if manner.is_itself and peek(notice.thread, address)[:1] == b"\0":
            return self._opened(notice.thread, folder)
        path = path_at(notice.thread, address)
        if path is None:
            return None
        is_following = target.is_followed and manner.is_following
        return self._led(notice.thread, folder, path, is_following=is_following, is_staying=manner.is_staying)

    def _opened(self, thread: int, folder: int) -> bytes | None:
        try:
            if os.stat(door_to(thread, folder)).st_dev in self._devices:
                return None
        except OSError:
            pass  # whatever the reason, its name is asked for next
        return base_of(thread, folder)

    def _led(
        self, thread: int, folder: int, path: bytes, *, is_following: bool, is_staying: bool = False
    ) -> bytes | None:
        is_absolute = path.startswith(b"/") and not is_staying
        at = path if is_absolute else door_to(thread, folder) + b"/" + path
        if not is_staying and self._is_plainly_inside(at, is_following=is_following):
            return None
        base = b"/" if is_absolute else base_of(thread, folder)
        return resolved(thread, base, path, is_following=is_following, is_staying=is_staying)

    def _is_plainly_inside(self, at: bytes, *, is_following: bool) -> bool:
        """Asks the kernel once or twice, so that ordinary writing is not slowed down; False when it is not so plain."""
        above, _, name = at.rpartition(b"/")
        if name in (b"", b".", b".."):
            return False
        try:
            found = None
            if is_following:
                try:
                    found = os.lstat(at)
                except FileNotFoundError:
                    pass  # so it would be a new one
                else:
                    if stat.S_ISLNK(found.st_mode):
                        return False
            return (found or os.stat(above or b"/")).st_dev in self._devices
        except (OSError, ValueError):
            return False


def _open_flags(name: str, notice: kernel.Notice) -> tuple[int, int]:
    """What it is opened for, and how its path is to be resolved."""
    if name == "openat2":
        how = memory(notice.thread, notice.arguments[2], 24)
        return int.from_bytes(how[:8], "little"), int.from_bytes(how[16:], "little")
    return notice.arguments[_OPENING[name]], 0


def _socket_path(notice: kernel.Notice) -> bytes | None:
    """The file a local socket would become; None for other sockets, and for names that are no files."""
    address = memory(notice.thread, notice.arguments[1], min(notice.arguments[2] & 0xFFFFFFFF, 110))
    if len(address) < 3 or int.from_bytes(address[:2], "little") != socket.AF_UNIX:
        return None
    return address[2:].partition(b"\0")[0] or None


def _is_next(path: bytes) -> bool:
    """Whether it is the first folder missing: `mkdir -p` and its kin ask for every one on the way, up or down."""
    return not os.path.lexists(path) and os.path.lexists(path.rpartition(b"/")[0] or b"/")
