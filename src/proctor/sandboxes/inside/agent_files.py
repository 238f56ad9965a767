# ruff: noqa: PTH101, PTH103, PTH116, PTH208
# Plain os calls by descriptor: a path would be looked up again, by then leading elsewhere.
"""The files of a workspace, handled without trusting anything a program has made of its folders."""

from __future__ import annotations

import contextlib
import errno
import itertools
import json
import os
import stat
import time
from collections.abc import Callable, Iterator
from typing import Any

from .agent_frames import joined, parted

Answer = tuple[dict[str, Any], bytes]
MAX_ENTRIES, MAX_BYTES, MAX_DEPTH, MAX_TEXT = 20_000, 64 << 20, 64, 8 << 20
MAX_TOLD = 1_000  # of what a list leaves out
_ENTRY_BYTES = 1_024  # what an empty file costs the machine, and no folder's size counts
_EMPTY_SECONDS = 30.0
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_SPECIAL = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


# What a program can make of the folders before, or while, something is written or removed there.
_IN_THE_WAY = (
    *(errno.EACCES, errno.EPERM, errno.ELOOP, errno.ENOTDIR),
    *(errno.EISDIR, errno.EEXIST, errno.ENOENT, errno.ENOTEMPTY),
)


class PathRefusedError(Exception):
    """A path that leads out of the workspace, or cannot be used."""


class BlockedError(PathRefusedError):
    """A program has left, or keeps putting, something in the way: its own doing."""


def parts_of(path: str) -> list[str]:
    """The steps of a relative path; one that leaves its folder, or is none, is refused."""
    steps = [step for step in path.split("/") if step not in ("", ".")]
    if not steps or path.startswith("/") or ".." in steps or "\0" in path or len(steps) > MAX_DEPTH:
        raise PathRefusedError(f"{path!r} is not a path below the folder")
    return steps


def _opened(top: str) -> int:
    """One of the workspace's own folders, which a program may have closed, being its owner."""
    found = os.stat(top, follow_symlinks=False)
    if stat.S_ISDIR(found.st_mode) and found.st_mode & stat.S_IRWXU != stat.S_IRWXU:
        with contextlib.suppress(PermissionError):  # not the programs' own, so not closed by them
            os.chmod(top, stat.S_IMODE(found.st_mode) | stat.S_IRWXU)
    return os.open(top, _FOLDER)


@contextlib.contextmanager
def _walked(top: str, steps: list[str], *, is_making: bool) -> Iterator[int]:
    """The descriptor of a folder, reached without following a link; missing ones are made on request."""
    fd = _opened(top)
    try:
        for step in steps:
            if is_making:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(step, 0o755, dir_fd=fd)
            below = os.open(step, _FOLDER, dir_fd=fd)
            os.close(fd)
            fd = below
        yield fd
    finally:
        os.close(fd)


def write(top: str, path: str, data: bytes) -> None:
    """A new file of this content, whatever was there before under its name but a folder."""
    *folders, name = parts_of(path)
    try:
        with _walked(top, folders, is_making=True) as folder:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name, dir_fd=folder)
            fd = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _SPECIAL, 0o644, dir_fd=folder)
            try:
                view = memoryview(data)
                while view:
                    view = view[os.write(fd, view) :]
                if data.startswith(b"#!"):
                    os.fchmod(fd, 0o755)
            finally:
                os.close(fd)
    except OSError as error:
        if error.errno in _IN_THE_WAY:
            raise BlockedError(f"a link, a file or a folder is in the way of {path!r}: {error.strerror}") from None
        raise


def read(top: str, path: str, limit: int) -> bytes | None:
    """A regular file's content; None when there is none, or it is larger than that."""
    *folders, name = parts_of(path)
    try:
        with _walked(top, folders, is_making=False) as folder:
            fd = os.open(name, os.O_RDONLY | _SPECIAL, dir_fd=folder)
    except OSError:
        return None
    try:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode) or found.st_size > limit:
            return None
        with os.fdopen(fd, "rb", closefd=False) as file:  # not before: it takes no folder, and would leave it open
            data = file.read(limit + 1)
    finally:
        os.close(fd)
    return data if len(data) <= limit else None


def _is_usable(name: str) -> bool:
    return all(letter.isprintable() and not 0xDC80 <= ord(letter) <= 0xDCFF for letter in name)


def _shown(name: str) -> str:
    """A name that cannot be shown, with what is odd about it written out."""
    return "".join(
        f"\\x{ord(letter) - 0xDC00:02x}"
        if 0xDC80 <= ord(letter) <= 0xDCFF
        else letter
        if letter.isprintable()
        else letter.encode("unicode_escape").decode()
        for letter in name
    )


class FolderListing:
    """Regular files below a folder, so many, so deep and so long; and what was left out, as far as there is room."""

    def __init__(self, top: str) -> None:
        self.sizes: dict[str, int] = {}
        self.left_out: dict[str, str] = {}
        """Path, as it can be shown -> why."""
        self._waiting: list[list[str]] = [[]]
        self._seen = self._length = 0
        while self._waiting:
            self._look(top, self._waiting.pop())
        self.sizes = dict(sorted(self.sizes.items()))

    def _look(self, top: str, steps: list[str]) -> None:
        try:
            with _walked(top, steps, is_making=False) as folder:
                names, room = os.listdir(folder), MAX_ENTRIES - self._seen
                self._seen += len(names[:room])
                for name in names[:room]:
                    # What is gone meanwhile takes nothing else along: a program may be tidying up.
                    with contextlib.suppress(FileNotFoundError):
                        self._take(folder, steps, name)
        except FileNotFoundError:
            return
        except OSError:
            self._leave([*steps, ""], "it could not be read")
            return
        if len(names) > room:
            self._leave([*steps, ""], f"there are more than {MAX_ENTRIES:,} entries")

    def _take(self, folder: int, steps: list[str], name: str) -> None:
        path = [*steps, name]
        if not _is_usable(name):
            self._leave(path, "its name cannot be shown")
            return
        info = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if stat.S_ISREG(info.st_mode):
            if self._has_room("/".join(path)):
                self.sizes["/".join(path)] = info.st_size
            else:
                self.left_out["./"] = "its names are too long to be told together"
        elif not stat.S_ISDIR(info.st_mode):
            self._leave(path, "it is a link" if stat.S_ISLNK(info.st_mode) else "it is no regular file")
        elif len(path) > MAX_DEPTH:
            self._leave([*path, ""], f"it is more than {MAX_DEPTH} folders deep")
        else:
            self._waiting.append(path)

    def _leave(self, path: list[str], why: str) -> None:
        shown = "/".join(map(_shown, path)) or "./"
        if len(self.left_out) < MAX_TOLD and self._has_room(shown):
            self.left_out[shown] = why

    def _has_room(self, text: str) -> bool:
        """Names are told in one answer, which nobody would believe if it were too long."""
        self._length += len(json.dumps(text))
        return self._length <= MAX_TEXT


def sizes(top: str) -> dict[str, int]:
    return FolderListing(top).sizes


def empty(top: str) -> None:
    """Remove everything in a folder, however deep and whatever its permissions.

    What lies in a folder is moved up to the top before the folder is removed, so no depth needs a longer path.
    """
    fd = _opened(top)
    try:
        numbers, deadline = itertools.count(1), time.monotonic() + _EMPTY_SECONDS
        while names := os.listdir(fd):
            for name in names:
                try:
                    _remove(fd, name, numbers)
                except OSError as error:  # a service may be tidying up, or filling it, at the same time
                    if error.errno not in _IN_THE_WAY:
                        raise
            if time.monotonic() > deadline:
                raise BlockedError("something fills the folder faster than it can be emptied")
    finally:
        os.close(fd)


def _remove(top: int, name: str, numbers: Iterator[int]) -> None:
    info = os.stat(name, dir_fd=top, follow_symlinks=False)
    if not stat.S_ISDIR(info.st_mode):
        os.unlink(name, dir_fd=top)
        return
    os.chmod(name, 0o700, dir_fd=top)  # not a link: nobody else is running who could make it one
    inner = os.open(name, _FOLDER, dir_fd=top)
    try:
        for below in os.listdir(inner):
            if stat.S_ISDIR(os.stat(below, dir_fd=inner, follow_symlinks=False).st_mode):
                os.chmod(below, 0o700, dir_fd=inner)  # a folder closed to its owner cannot be moved
                os.rename(below, f".{next(numbers)}.{os.getpid()}.emptied", src_dir_fd=inner, dst_dir_fd=top)
            else:
                os.unlink(below, dir_fd=inner)
    finally:
        os.close(inner)
    os.rmdir(name, dir_fd=top)


def used(tops: list[str], *, is_hosted: bool) -> tuple[int, bool]:
    """Bytes in these folders, entries included, and whether one is full; on the host it is added up file by file."""
    if is_hosted:
        return sum(sum(sizes(top).values()) for top in tops), False
    total, is_full = 0, False
    for top in tops:
        disk = os.statvfs(top)
        total += (disk.f_blocks - disk.f_bfree) * disk.f_frsize
        total += (disk.f_files - disk.f_ffree) * _ENTRY_BYTES
        is_full = is_full or disk.f_bavail == 0 or disk.f_favail == 0
    return total, is_full


class Folders:
    """The four folders by the names programs know them by, and where they really are."""

    NAMES = ("/app", "/work", "/data", "/tmp")  # noqa: S108  the workspace's own

    def __init__(self, root: str) -> None:
        self.root = root
        self.is_hosted = bool(root)
        self.tops = [root + name for name in self.NAMES]

    def split(self, path: str) -> tuple[str, str]:
        """The folder's real path and the rest of the path below it."""
        for name in self.NAMES:
            if path == name or path.startswith(f"{name}/"):
                return self.root + name, path[len(name) + 1 :]
        raise PathRefusedError(f"{path!r} is not below one of {', '.join(self.NAMES)}")

    def translated(self, text: str) -> str:
        """A command's argument or variable with the workspace's folders as they are called on the host."""
        if not self.is_hosted:
            return text
        for name in self.NAMES[:3]:
            for before in ("", ":", "="):
                at = 0
                while (at := text.find(before + name, at)) >= 0:
                    end = at + len(before + name)
                    if (before or at == 0) and (end == len(text) or text[end] in "/:"):
                        text = text[: at + len(before)] + self.root + text[at + len(before) :]
                        end += len(self.root)
                    at = end
        return text

    def make(self) -> None:
        if self.is_hosted:
            for top in self.tops:
                os.makedirs(top, exist_ok=True)

    def write_all(self, under: str, files: dict[str, bytes]) -> None:
        top, rest = self.split(under)
        for path, data in files.items():
            write(top, "/".join([*([rest] if rest else []), *parts_of(path)]), data)

    def read_all(self, paths: list[str]) -> dict[str, bytes]:
        found: dict[str, bytes] = {}
        left = MAX_BYTES
        for path in paths:
            top, rest = self.split(path)
            data = read(top, rest, left) if rest else None
            if data is not None:
                found[path] = data
                left -= len(data)
        return found

    def listed(self, under: str) -> dict[str, Any]:
        """Sizes of the files below a folder, and what of it was left out and why."""
        top, rest = self.split(under)
        prefix = "/".join([*parts_of(rest), ""]) if rest else ""
        found = FolderListing(top)
        return {
            name: {path.removeprefix(prefix): value for path, value in part.items() if path.startswith(prefix)}
            for name, part in (("sizes", found.sizes), ("left_out", found.left_out))
        }

    def empty(self, folder: str) -> None:
        top, rest = self.split(folder)
        if rest:
            raise PathRefusedError(f"only {', '.join(self.NAMES)} can be emptied, not {folder!r}")
        empty(top)

    def orders(self) -> dict[str, Callable[[dict[str, Any], bytes], Answer]]:
        """What a harness may ask about files, each order by its name."""
        return {"write": self._write, "read": self._read, "list": self._list, "empty": self._empty}

    def _write(self, head: dict[str, Any], body: bytes) -> Answer:
        self.write_all(head["under"], parted(head["files"], body))
        return {}, b""

    def _read(self, head: dict[str, Any], _: bytes) -> Answer:
        names, data = joined(self.read_all(head["paths"]))
        return {"files": names}, data

    def _list(self, head: dict[str, Any], _: bytes) -> Answer:
        return self.listed(head["under"]), b""

    def _empty(self, head: dict[str, Any], _: bytes) -> Answer:
        self.empty(head["folder"])
        return {}, b""

    def used(self) -> tuple[int, bool]:
        return used(self.tops, is_hosted=self.is_hosted)
