"""bubblewrap: namespaces made by `bwrap`, as a user of its own, with our filter and limits inside."""

from __future__ import annotations

import os
from pathlib import Path

from proctor.sandboxes.cold import (
    PACKAGE,
    bootstrap,
    cold_pool,
    drop_privileges,
    interpreter,
    is_open_to_all,
    sized_folder,
    tool,
)
from proctor.sandboxes.pool import SandboxPool
from proctor.sandboxes.system import shown

NAME = "bubblewrap"
_BASES = ("/mnt", "/media", "/srv", "/opt")


def binds(python: Path) -> list[str]:
    """What a sandbox sees of this machine, read-only."""
    seen = shown(python)
    return [
        *(part for source, target in seen.binds for part in ("--ro-bind", source, target)),
        *(part for path, target in seen.links for part in ("--symlink", target, path)),
        *(part for path in seen.covered for part in ("--size", "4096", "--tmpfs", path, "--remount-ro", path)),
    ]


def command(python: Path, *, is_shown: bool) -> list[str]:
    """The tool's command line; {…} are filled in for every run."""
    at = _free_folder(python) if os.geteuid() == 0 else None
    return [
        *(sized_folder(at) if at else ()),
        *drop_privileges(),
        tool("bwrap"),
        *("--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--as-pid-1", "--new-session"),
        *("--hostname", "sandbox", "--uid", "65534", "--gid", "65534", "--cap-drop", "ALL"),
        *binds(python),
        *(("--ro-bind", str(PACKAGE / "inside"), "/run/proctor/inside") if is_shown else ()),
        *("--proc", "/proc", "--dev", "/dev"),
        # bwrap's own has a size, and no limit of files: only root can make another.
        *(("--bind", at, "/tmp") if at else ("--size", "{disk}", "--tmpfs", "/tmp")),  # noqa: S108
        *("--dir", "/tmp/work", "--dir", "/tmp/.shm"),  # noqa: S108
        *("--size", "1048576", "--tmpfs", "/dev/shm", "--remount-ro", "/dev"),  # noqa: S108
        *("--chdir", "/tmp/work", "--remount-ro", "/"),  # noqa: S108
        "--",
    ]


def _free_folder(python: Path) -> str | None:
    """A folder of this machine that a run has no use for, to mount another over it in a namespace of its own."""
    used = (*shown(python).paths, str(PACKAGE.resolve()))
    return next((at for at in _BASES if Path(at).is_dir() and not any(one.startswith(f"{at}/") for one in used)), None)


def create(*, parallel: int | None = None) -> SandboxPool:
    """Shows the code for the inside as a folder where a run's user can read it, else carries it along."""
    python, is_shown = interpreter(), os.geteuid() != 0 or is_open_to_all(PACKAGE)
    inside = "import sys; sys.path.insert(0, '/run/proctor')" if is_shown else bootstrap()
    prefix = command(python, is_shown=is_shown)
    return cold_pool(NAME, prefix, python=python, inside=inside, parallel=parallel, is_carrying=not is_shown)
