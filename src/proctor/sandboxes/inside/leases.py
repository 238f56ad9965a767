"""Users for slots: no two slots on this machine have the same, whichever process they belong to.

The kernel counts processes per user, so two slots with one user would share a limit. A lease is a lock on a file, which
the kernel gives back however its holder ends.
"""

from __future__ import annotations

import fcntl
import os

PER_SLOT = 2  # one for code that is judged, one for judges
_FOLDERS = ("/run/proctor", "/var/tmp/proctor-users")  # noqa: S108  root's own, see _folder


class NoUserLeftError(Exception):
    """Every user of the range is taken, or leases cannot be kept."""


def _folder(candidates: tuple[str, ...]) -> int:
    """A folder of ours that nobody else can write, opened."""
    for path in candidates:
        try:
            os.makedirs(path, mode=0o700, exist_ok=True)  # noqa: PTH103
            fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            continue
        found = os.fstat(fd)
        if found.st_uid == os.geteuid() and not found.st_mode & 0o022:
            return fd
        os.close(fd)
    raise NoUserLeftError(f"no folder for leases on users: make {candidates[0]} writable")


def lease(first: int, count: int, candidates: tuple[str, ...] = _FOLDERS) -> tuple[int, int]:
    """The first of a slot's users, and the descriptor that holds them until it is closed."""
    folder = _folder(candidates)
    try:
        for uid in range(first, first + count - PER_SLOT + 1, PER_SLOT):
            fd = os.open(f"user-{uid}", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=folder)
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(fd)
                continue
            return uid, fd
    finally:
        os.close(folder)
    raise NoUserLeftError(f"all {count // PER_SLOT} slots of users {first} to {first + count - 1} are taken")
