"""One server process for all processes of this machine that use the same thing: the first starts it, the last ends it.

Whoever uses it holds a shared lock on a file, which the kernel takes back however its holder ends; the server waits for
the lock that excludes all others, and ends when it gets it. Needs POSIX.
"""

from __future__ import annotations

import fcntl
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from proctor.domain.errors import UserError

CONNECT_SECONDS = 5.0


class SharedServer:
    """The server of a name; `launch` is given the file that it is to wait for, and gives its process id and address."""

    def __init__(self, folder: Path, name: str, launch: Callable[[Path], tuple[int, str]]) -> None:
        self._users, self._starting = folder / f"{name}.users", folder / f"{name}.starting"
        self._launch = launch
        self._held = -1

    def join(self) -> str:
        """Where it listens, until `leave`; started where it does not run, by one of those who ask."""
        with _locked(self._starting):
            is_first = self._held < 0 and self._use()
            address = None if is_first else self._running()
            if address is None:
                pid, address = self._launch(self._users)
                _place_of(self._users).write_text(f"{pid} {address}")
            return address

    def _use(self) -> bool:
        """Take part in it; whether nobody else does, so that whatever is said of a server is of one that has ended."""
        self._held = _open(self._users)
        try:
            fcntl.flock(self._held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_first = True
        except BlockingIOError:
            is_first = False
        fcntl.flock(self._held, fcntl.LOCK_SH)  # a server that just ends is waited for
        return is_first

    def _running(self) -> str | None:
        try:
            pid, _, address = _place_of(self._users).read_text().partition(" ")
            os.kill(int(pid), 0)
        except (OSError, ValueError):
            return None
        return address if is_listening(address) else None

    def leave(self) -> None:
        """It ends unless others use it; leaving twice is harmless."""
        held, self._held = self._held, -1
        if held >= 0:
            os.close(held)


def is_listening(address: str) -> bool:
    parts = urlsplit(address)
    try:
        with socket.create_connection((parts.hostname or "", parts.port or 0), CONNECT_SECONDS):
            return True
    except OSError:
        return False


def wait_until_unused(users: Path) -> None:
    """In the server, which is to end then: until nobody uses it any more. The lock is kept until it has ended."""
    fcntl.flock(_open(users), fcntl.LOCK_EX)
    _place_of(users).unlink(missing_ok=True)


def _place_of(users: Path) -> Path:
    return users.with_suffix(".address")


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    descriptor = _open(path)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _open(path: Path) -> int:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise UserError(
            f"{path} cannot be written: {error.strerror}. Processes that ask one local model meet there."
        ) from error
