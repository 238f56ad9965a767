"""Keeps a folder out of a program's sight that otherwise works on this machine as its user does."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache
from pathlib import Path

TRIAL_SECONDS = 10.0


def without(folder: Path) -> tuple[str, ...]:
    """What is put before a command so that it finds this folder empty; nothing where that cannot be had."""
    return (*_wrapper(), "--tmpfs", str(folder.resolve()), "--") if _wrapper() else ()


@cache
def _wrapper() -> tuple[str, ...]:
    bubblewrap = shutil.which("bwrap")
    if bubblewrap is None:
        return ()
    wrapper = (bubblewrap, "--dev-bind", "/", "/", "--die-with-parent")
    try:
        done = subprocess.run([*wrapper, "--", "true"], capture_output=True, timeout=TRIAL_SECONDS, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return ()
    return wrapper if done.returncode == 0 else ()
