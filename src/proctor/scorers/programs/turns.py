"""One load at a time on this machine: whoever measures waits for the others, in this process and in every other."""

from __future__ import annotations

import asyncio
import errno
import fcntl
import os
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

NAME = "proctor-load.lock"
_PAUSE_SECONDS = 0.05


def _open(path: Path) -> int:
    """Another user may have made it: then it is opened as it is."""
    try:
        return os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
        os.fchmod(fd, 0o666)
        return fd


@asynccontextmanager
async def load_turn(folder: Path | None = None) -> AsyncIterator[float]:
    """Hold the machine for a measurement; gives the seconds that were waited. The kernel frees it if we die."""
    fd = _open((folder or Path(tempfile.gettempdir())) / NAME)
    began = asyncio.get_running_loop().time()
    try:
        while True:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                if error.errno not in (errno.EAGAIN, errno.EACCES):
                    raise
                await asyncio.sleep(_PAUSE_SECONDS)
                continue
            break
        yield asyncio.get_running_loop().time() - began
    finally:
        os.close(fd)
