"""The warm backend: Linux namespaces, system call filter and control groups, without any tool to install."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from proctor.domain.errors import SandboxError
from proctor.sandboxes.pool import USERS, SandboxPool
from proctor.sandboxes.system import shown

NAME = "namespaces"
INSIDE_UID = 1_000
_BASES = ("/mnt", "/media", "/srv", "/opt", "/run", "/tmp")  # noqa: S108  only a place to mount over, in a namespace of its own
ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "USER": "sandbox",
    "LOGNAME": "sandbox",
    "HOME": "/tmp/work",  # noqa: S108  the sandbox's own
    "TMPDIR": "/tmp",  # noqa: S108
    "PYTHONHASHSEED": "0",  # the same program gets the same verdict every time
    "PYTHONDONTWRITEBYTECODE": "1",
    "OMP_NUM_THREADS": "1",
}


def layout() -> dict[str, Any]:
    """What a sandbox sees of this machine, and on which folder its file system is built."""
    seen = shown(Path(os.path.realpath(sys.executable)))
    base = next(
        (at for at in _BASES if Path(at).is_dir() and not any(_is_below(path, at) for path in seen.paths)), None
    )
    if base is None:
        raise SandboxError("No folder to build the sandbox's file system on: create /mnt.")
    return {
        "base": base,
        "binds": list(seen.binds),
        "links": list(seen.links),
        "covered": list(seen.covered),
        "uid": INSIDE_UID,
    }


def _is_below(path: str, folder: str) -> bool:
    return f"{path}/".startswith(f"{folder}/")


def create(
    *, parallel: int | None = None, is_using_cgroups: bool = True, is_notifying: bool = True, users: range = USERS
) -> SandboxPool:
    """Thousands of small executions: per core a supervisor, and warm parents that fork inside the sandbox."""
    config = {
        "layout": layout(),
        "environment": ENVIRONMENT,
        "is_using_cgroups": is_using_cgroups,
        "is_notifying": is_notifying,
    }
    return SandboxPool(NAME, config, python=os.path.realpath(sys.executable), parallel=parallel, users=users)
