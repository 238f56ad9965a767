# ruff: noqa: PTH115, PTH116
# Plain os calls on bytes: a path is what the kernel takes it for.
"""Where a program's paths lead, seen from its agent, and whether that is outside the workspace's folders."""

from __future__ import annotations

import errno
import os
import re
import stat

from .agent_files import Folders
from .agent_memory import MAX_BYTES, UnseenError

HERE = 0xFFFFFF9C
"""AT_FDCWD as 32 bits: in place of a descriptor, the folder a program works in."""
_FOLDERS = (*(name.encode() for name in Folders.NAMES), b"/dev/shm", b"/dev/pts")
_DEVICES = frozenset({b"null", b"zero", b"full", b"random", b"urandom", b"tty", b"ptmx"})
_MAX_LINKS, _MAX_NAME_LENGTH = 40, 255
_MAX_STEPS = MAX_BYTES // 2  # of a path without links: every further one takes the agent longer than the kernel
_SHOWN = 200
_GONE = b" (deleted)"  # said of files without a name, as a tool's own in /etc may be
_MAGIC = re.compile(rb"/proc/[0-9]+/(?:task/[0-9]+/)?(?:fd/[0-9]+|cwd|root|exe)")
_OF_PROCESS = re.compile(rb"/proc/([0-9]+)(?:/|$)")


def own_devices(mounts: bytes) -> frozenset[int]:
    """File systems that are mounted in a workspace's folders and nowhere else, of all that are mounted.

    What is found on one of them is inside, whatever path led there.
    """
    found: dict[int, bool] = {}
    for line in mounts.splitlines():
        fields = line.split(b" ")
        major, _, minor = fields[2].partition(b":")
        device = os.makedev(int(major), int(minor))
        found[device] = found.get(device, True) and fields[4] in _FOLDERS
    return frozenset(device for device, is_own in found.items() if is_own)


def door_to(thread: int, folder: int) -> bytes:
    return b"/proc/%d/cwd" % thread if folder == HERE else b"/proc/%d/fd/%d" % (thread, folder)


def base_of(thread: int, folder: int) -> bytes | None:
    """What a descriptor stands for; None when it is no file."""
    try:
        found = os.readlink(door_to(thread, folder))
    except OSError as error:
        if error.errno in (
            errno.EACCES,
            errno.EPERM,
            errno.ENAMETOOLONG,
        ):  # a folder may lie deeper than a path is long
            raise UnseenError from None
        return None
    return _named(found) if found.startswith(b"/") else None


def _named(found: bytes) -> bytes:
    """What a descriptor stands for, by its name; one that is gone has the name it had."""
    return found.removesuffix(_GONE) if found.endswith(_GONE) and not os.path.lexists(found) else found


def resolved(
    thread: int, base: bytes | None, path: bytes, *, is_following: bool = False, is_staying: bool = False
) -> bytes | None:
    """Where a path leads for that thread, through links like the kernel; None when it leads to no file at all.

    One that stays takes its base for the root of everything.
    """
    if base is None:
        return None
    base = b"" if base == b"/" else base
    top = base if is_staying else b""
    here, links, looks = (top if path.startswith(b"/") else base), 0, 0
    is_following = is_following or path.endswith(b"/")
    steps = [step for step in reversed(path.split(b"/")) if step not in (b"", b".")]
    while steps:
        step = steps.pop()
        if step == b"..":
            here = here.rpartition(b"/")[0] if here != top else top
            continue
        looks += 1
        if len(step) > _MAX_NAME_LENGTH:
            return None
        if looks > _MAX_STEPS:
            raise UnseenError
        at = here + b"/" + step
        link = _link(at, thread) if steps or is_following else None
        if link is None:
            here = at
            continue
        links += 1
        if links > _MAX_LINKS or (not link.startswith(b"/") and _MAGIC.fullmatch(at)):
            return None  # endless, or a pipe, a socket or another thing without a workspace
        if link.startswith(b"/"):
            here = top
        steps += [step for step in reversed(link.split(b"/")) if step not in (b"", b".")]
    return here or b"/"


def _link(at: bytes, thread: int) -> bytes | None:
    if at in (b"/proc/self", b"/proc/thread-self"):  # the kernel would take them for the agent's own
        return b"/proc/%d" % thread
    try:
        found = os.readlink(at)
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:  # no name in it is: it goes on where the agent cannot follow
            raise UnseenError from None
        return None
    except ValueError:
        return None
    return _named(found) if at.startswith(b"/proc/") else found


def is_outside(path: bytes, thread: int) -> bool:
    """Whether a program has no business writing there; what runtimes do of their own accord is none of its attempts."""
    if any(path == folder or path.startswith(folder + b"/") for folder in _FOLDERS):
        return False
    folder, _, name = path.rpartition(b"/")
    if folder == b"/dev" and name in _DEVICES:
        return False
    if name == b"__pycache__" or folder.endswith(b"/__pycache__"):
        return False  # an interpreter keeps compiled modules beside their source wherever that is
    if path.startswith(b"/proc/"):
        owner = _OF_PROCESS.match(path)
        return owner is None or not _is_own(int(owner[1]), thread)
    return True


def _is_own(pid: int, thread: int) -> bool:
    """Whether this is the number of the thread, or of its process."""
    try:
        return pid == thread or stat.S_ISDIR(os.stat(f"/proc/{pid}/task/{thread}").st_mode)
    except OSError:
        return False


def shown(path: bytes) -> str:
    """A path as text of bounded length that changes nobody's screen."""
    text = path[: 4 * _SHOWN].decode("utf-8", "backslashreplace")
    safe = "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)
    return safe if len(safe) <= _SHOWN else safe[:_SHOWN] + "…"
