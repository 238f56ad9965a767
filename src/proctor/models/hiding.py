"""Keeps a folder out of a program's sight that otherwise works on this machine as its user does."""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path

from proctor.models.offline import is_working


def without(folder: Path) -> tuple[str, ...]:
    """What is put before a command so that it finds this folder empty; nothing where that cannot be had."""
    return (*_wrapper(), "--tmpfs", str(folder.resolve()), "--") if _wrapper() else ()


@cache
def _wrapper() -> tuple[str, ...]:
    bubblewrap = shutil.which("bwrap")
    if bubblewrap is None:
        return ()
    plain = (bubblewrap, "--dev-bind", "/", "/", "--die-with-parent")
    # With our processes in sight the folder would still be found, below /proc/PID/root.
    alone = (*plain, "--unshare-pid", "--proc", "/proc")
    return next((wrapper for wrapper in (alone, plain) if is_working((*wrapper, "--"))), ())
