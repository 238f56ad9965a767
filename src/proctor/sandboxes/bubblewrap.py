"""bubblewrap: namespaces made by `bwrap`, as a user of its own, with our filter and limits inside."""

from __future__ import annotations

import os
from pathlib import Path

from proctor.sandboxes.cold import PACKAGE, bootstrap, cold_pool, drop_privileges, interpreter, is_open_to_all, tool
from proctor.sandboxes.pool import Pool

NAME = "bubblewrap"
_SYSTEM = ("/usr", "/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime")
_TOP = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")


def binds(python: Path) -> list[str]:
    """What a sandbox sees of this machine, read-only."""
    found: list[str] = []
    for shown in _SYSTEM:
        if Path(shown).exists():
            found += ["--ro-bind", shown, shown]
    for top in _TOP:
        path = Path(top)
        if path.is_symlink():
            found += ["--symlink", str(path.readlink()), top]
        elif path.is_dir():
            found += ["--ro-bind", top, top]
    prefix = python.resolve().parents[1]
    if not str(prefix).startswith("/usr"):
        found += ["--ro-bind", str(prefix), str(prefix)]
    return found


def command(python: Path, *, is_shown: bool) -> list[str]:
    """The tool's command line; {…} are filled in for every run."""
    return [
        *drop_privileges(),
        tool("bwrap"),
        *("--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--as-pid-1", "--new-session"),
        *("--hostname", "sandbox", "--uid", "65534", "--gid", "65534", "--cap-drop", "ALL"),
        *binds(python),
        *(("--ro-bind", str(PACKAGE / "inside"), "/run/proctor/inside") if is_shown else ()),
        *("--proc", "/proc", "--dev", "/dev"),
        *("--size", "{disk}", "--tmpfs", "/tmp", "--dir", "/tmp/work", "--dir", "/tmp/.shm"),  # noqa: S108
        *("--size", "1048576", "--tmpfs", "/dev/shm", "--remount-ro", "/dev"),  # noqa: S108
        *("--chdir", "/tmp/work", "--remount-ro", "/"),  # noqa: S108
        "--",
    ]


def create(*, parallel: int | None = None) -> Pool:
    """Shows the code for the inside as a folder where a run's user can read it, else carries it along."""
    python, is_shown = interpreter(), os.geteuid() != 0 or is_open_to_all(PACKAGE)
    inside = "import sys; sys.path.insert(0, '/run/proctor')" if is_shown else bootstrap()
    prefix = command(python, is_shown=is_shown)
    return cold_pool(NAME, prefix, python=python, inside=inside, parallel=parallel, is_carrying=not is_shown)
