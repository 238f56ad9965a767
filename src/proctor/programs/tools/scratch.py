"""Temporary folders outside the workspace; those of a harness that was killed are removed at the next start."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

PREFIX = "proctor-reading-"


@contextlib.contextmanager
def scratch() -> Iterator[Path]:
    """A folder of one's own, gone afterwards."""
    _sweep_once()
    folder, lock = _locked()
    try:
        yield folder
    finally:
        shutil.rmtree(folder)
        os.close(lock)


def _locked() -> tuple[Path, int]:
    """A new folder that nobody sweeps: the kernel holds its lock for exactly as long as this process lives."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX))
        with contextlib.suppress(FileNotFoundError):  # swept between being made and being locked
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            fcntl.flock(lock, fcntl.LOCK_SH)
            if folder.exists():
                return folder, lock
            os.close(lock)


@cache
def _sweep_once() -> None:
    sweep()


def sweep() -> None:
    """Remove this user's folders that no living process holds."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        # Anybody may write into a folder for temporary files: links and what others own are left alone.
        with contextlib.suppress(FileNotFoundError):
            found = folder.lstat()
            if stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid():
                _remove_unlocked(folder)


def _remove_unlocked(folder: Path) -> None:
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return
    else:
        shutil.rmtree(folder)
    finally:
        os.close(lock)
