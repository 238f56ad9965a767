"""Builds the file system a sandbox sees: a read-only system, nothing of the user's."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

from . import kernel

_DEVICES = ("null", "zero", "full", "random", "urandom")
_LINKS = {"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2", "shm": "/tmp/.shm"}  # noqa: S108
_PASSWD = "sandbox:x:{uid}:{uid}::/tmp:/bin/sh\n"
_LOCKED = {os.ST_NOSUID: kernel.NOSUID, os.ST_NODEV: kernel.NODEV, os.ST_NOEXEC: kernel.NOEXEC, os.ST_NOATIME: kernel.NOATIME}


def _bind(source: str, target: Path, *, flags: int = kernel.RDONLY | kernel.NOSUID | kernel.NODEV) -> None:
    if Path(source).is_dir():
        target.mkdir(parents=True, exist_ok=True)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.touch()
    kernel.mount(source, str(target), flags=kernel.BIND | kernel.REC)
    # A remount may not drop flags the mount came with.
    kept = sum(flag for bit, flag in _LOCKED.items() if os.statvfs(target).f_flag & bit)
    kernel.mount("none", str(target), flags=kernel.BIND | kernel.REMOUNT | flags | kept)


def build(layout: dict[str, Any]) -> None:
    """Replace `/` by a tmpfs with the layout's folders bound read-only; needs a mount namespace of one's own."""
    kernel.mount("none", "/", flags=kernel.REC | kernel.PRIVATE)
    new = Path(layout["base"])
    kernel.mount("tmpfs", str(new), "tmpfs", kernel.NOSUID | kernel.NODEV, "size=1m,mode=755")
    for source, target in layout["binds"]:
        _bind(source, new / target.lstrip("/"))
    for target, link in layout["links"]:
        path = new / target.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(link)
    for name in ("proc", "tmp", "dev", "etc", ".old"):
        (new / name).mkdir(exist_ok=True)
    (new / "etc/passwd").write_text(_PASSWD.format(uid=layout["uid"]))
    (new / "etc/group").write_text(f"sandbox:x:{layout['uid']}:\n")
    for name in _DEVICES:
        _bind(f"/dev/{name}", new / "dev" / name, flags=kernel.NOSUID | kernel.NOEXEC)
    for name, link in _LINKS.items():
        (new / "dev" / name).symlink_to(link)
    # The kernel mounts a new /proc only where one is already in full view; ours covers this one for good.
    kernel.mount("/proc", str(new / "proc"), flags=kernel.BIND | kernel.REC)
    os.chdir(new)
    kernel.pivot_root(".", ".old")
    os.chdir("/")
    kernel.unmount("/.old")
    shutil.rmtree("/.old")
    kernel.mount("none", "/", flags=kernel.REMOUNT | kernel.BIND | kernel.RDONLY | kernel.NOSUID | kernel.NODEV)


def private_folders(disk_bytes: int) -> None:
    """A fresh /tmp and /proc for one run; needs mount and process namespaces of its own."""
    options = f"size={disk_bytes},nr_inodes=8192,mode=777"
    kernel.mount("tmpfs", "/tmp", "tmpfs", kernel.NOSUID | kernel.NODEV, options)  # noqa: S108
    kernel.mount("proc", "/proc", "proc", kernel.NOSUID | kernel.NODEV | kernel.NOEXEC)
    os.mkdir("/tmp/.shm")  # noqa: PTH102, S108  the quickest way, thousands of times
    os.mkdir("/tmp/work")  # noqa: PTH102, S108
    os.chdir("/tmp/work")  # noqa: S108
