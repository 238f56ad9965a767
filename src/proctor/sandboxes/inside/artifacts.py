"""Brings back what a program left behind, trusting nothing about it."""

from __future__ import annotations

import os
import stat

MAX_FILES, MAX_BYTES, MAX_DEPTH, MAX_NAME = 500, 32 << 20, 12, 200


class Collector:
    """Walks a folder by descriptor: no link is followed, nothing but regular files with one name is opened."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.refused: dict[str, str] = {}
        self._bytes = 0
        self._seen = 0

    def walk(self, folder: int, prefix: str = "", depth: int = 0) -> None:
        if depth > MAX_DEPTH:
            self._refuse(prefix, f"deeper than {MAX_DEPTH} folders")
            return
        with os.scandir(folder) as entries:
            for entry in entries:
                self._seen += 1
                if self._seen > MAX_FILES:
                    self._refuse(prefix or ".", f"more than {MAX_FILES} entries")
                    return
                self._take(folder, entry.name, f"{prefix}{entry.name}", depth)

    def _refuse(self, path: str, reason: str) -> None:
        if len(self.refused) < MAX_FILES:
            self.refused[_shown(path)] = reason

    def _take(self, folder: int, name: str, path: str, depth: int) -> None:
        if len(name) > MAX_NAME or _shown(name) != name:
            self._refuse(path, "an unusable name")
            return
        try:
            # Non-blocking, because a FIFO put here would otherwise wait for ever.
            fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
        except OSError as error:
            self._refuse(path, f"not opened: {error.strerror}")
            return
        try:
            self._read(fd, path, depth)
        finally:
            os.close(fd)

    def _read(self, fd: int, path: str, depth: int) -> None:
        found = os.fstat(fd)
        if stat.S_ISDIR(found.st_mode):
            self.walk(fd, f"{path}/", depth + 1)
        elif not stat.S_ISREG(found.st_mode):
            self._refuse(path, "not a regular file")
        elif found.st_nlink != 1:
            self._refuse(path, "a file with several names")
        elif self._bytes + found.st_size > MAX_BYTES:
            self._refuse(path, f"more than {MAX_BYTES} bytes in all")
        else:
            with os.fdopen(os.dup(fd), "rb") as file:
                data = file.read(MAX_BYTES - self._bytes + 1)
            self._bytes += len(data)
            self.files[path] = data


def _shown(name: str) -> str:
    return "".join(letter if letter.isprintable() and not 0xDC80 <= ord(letter) <= 0xDCFF else "?" for letter in name)
