"""One load at a time: whoever measures waits for the user's other markings, in this process and in every other."""

from __future__ import annotations

import asyncio
import errno
import fcntl
import os
import stat
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from proctor.domain.errors import ScorerError

NAME = "load.lock"
WAIT_SECONDS = 3600.0
"""Every marking holds the turn for some seconds or a minute: who has it for an hour has lost it."""
_PAUSE_SECONDS = 0.05


def turn_folder(above: Path | None = None) -> Path:
    """This user's own folder for the lock, which nobody else can hold or take away; made when it is missing."""
    folder = (above or Path(tempfile.gettempdir())) / f"proctor-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or stat.S_IMODE(found.st_mode) & 0o077:
        raise ScorerError(
            f"{folder} should be a folder of yours that nobody else can use (mode 0700): remove it, or set TMPDIR."
        )
    return folder


@asynccontextmanager
async def load_turn(folder: Path | None = None, wait_seconds: float = WAIT_SECONDS) -> AsyncIterator[float]:
    """Hold the machine for a measurement; gives the seconds that were waited. The kernel frees it if we die."""
    path = (folder or turn_folder()) / NAME
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    began = asyncio.get_running_loop().time()
    try:
        while not _takes(fd):
            if asyncio.get_running_loop().time() - began > wait_seconds:
                raise ScorerError(
                    f"Other markings have had the load turn for {wait_seconds:g} s. "
                    f"See who has {path} open (fuser {path}), end it, and mark again."
                )
            await asyncio.sleep(_PAUSE_SECONDS)
        yield asyncio.get_running_loop().time() - began
    finally:
        os.close(fd)


def _takes(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in (errno.EAGAIN, errno.EACCES):
            raise
        return False
    return True
