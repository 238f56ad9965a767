# ruff: noqa: PTH102, PTH103, PTH106, PTH112, PTH120, PTH123, PTH211, S108
# Plain os calls: every module a warm parent imports makes every fork dearer. The /tmp here is the sandbox's own.
"""Builds the file system a sandbox sees: a read-only system, nothing of the user's."""

from __future__ import annotations

import os
from typing import Any

from . import kernel

_DEVICES = ("null", "zero", "full", "random", "urandom")
_LINKS = {
    "fd": "/proc/self/fd",
    "stdin": "/proc/self/fd/0",
    "stdout": "/proc/self/fd/1",
    "stderr": "/proc/self/fd/2",
    "shm": "/tmp/.shm",
}
_LOCKED = {
    os.ST_RDONLY: kernel.RDONLY,  # as systemd's PrivateDevices mounts /dev; a device is written to all the same
    os.ST_NOSUID: kernel.NOSUID,
    os.ST_NODEV: kernel.NODEV,
    os.ST_NOEXEC: kernel.NOEXEC,
    os.ST_NOATIME: kernel.NOATIME,
}


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)


def _bind(source: str, target: str, *, flags: int = kernel.RDONLY | kernel.NOSUID | kernel.NODEV) -> None:
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        _write(target, "")
    kernel.mount(source, target, flags=kernel.BIND | kernel.REC)
    # A remount may not drop flags the mount came with.
    kept = sum(flag for bit, flag in _LOCKED.items() if os.statvfs(target).f_flag & bit)
    kernel.mount("none", target, flags=kernel.BIND | kernel.REMOUNT | flags | kept)


def build(layout: dict[str, Any]) -> None:
    """Replace `/` by a tmpfs with the layout's folders bound read-only; needs a mount namespace of one's own."""
    kernel.mount("none", "/", flags=kernel.REC | kernel.PRIVATE)
    new = layout["base"]
    kernel.mount("tmpfs", new, "tmpfs", kernel.NOSUID | kernel.NODEV, "size=1m,mode=755")
    for source, target in layout["binds"]:
        _bind(source, new + target)
    for target, link in layout["links"]:
        os.makedirs(os.path.dirname(new + target), exist_ok=True)
        os.symlink(link, new + target)
    for target in layout["covered"]:
        kernel.mount("tmpfs", new + target, "tmpfs", kernel.NOSUID | kernel.NODEV | kernel.RDONLY, "size=4k,mode=555")
    for name in ("proc", "tmp", "dev", "etc", ".old"):
        os.makedirs(f"{new}/{name}", exist_ok=True)
    _write(f"{new}/etc/passwd", f"sandbox:x:{layout['uid']}:{layout['uid']}::/tmp:/bin/sh\n")
    _write(f"{new}/etc/group", f"sandbox:x:{layout['uid']}:\n")
    for name in _DEVICES:
        _bind(f"/dev/{name}", f"{new}/dev/{name}", flags=kernel.NOSUID | kernel.NOEXEC)
    for name, link in _LINKS.items():
        os.symlink(link, f"{new}/dev/{name}")
    # The kernel mounts a new /proc only where one is already in full view; ours covers this one for good.
    kernel.mount("/proc", f"{new}/proc", flags=kernel.BIND | kernel.REC)
    os.chdir(new)
    kernel.pivot_root(".", ".old")
    os.chdir("/")
    kernel.unmount("/.old")
    os.rmdir("/.old")
    kernel.mount("none", "/", flags=kernel.REMOUNT | kernel.BIND | kernel.RDONLY | kernel.NOSUID | kernel.NODEV)


def private_folders(disk_bytes: int) -> None:
    """A fresh /tmp and /proc for one run; needs mount and process namespaces of its own."""
    options = f"size={disk_bytes},nr_inodes=8192,mode=777"
    kernel.mount("tmpfs", "/tmp", "tmpfs", kernel.NOSUID | kernel.NODEV, options)
    kernel.mount("proc", "/proc", "proc", kernel.NOSUID | kernel.NODEV | kernel.NOEXEC)
    os.mkdir("/tmp/.shm")
    os.mkdir("/tmp/work")
    os.chdir("/tmp/work")
