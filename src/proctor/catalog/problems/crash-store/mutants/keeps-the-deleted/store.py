"""Keys and values in memory, and the log that outlives the process."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from records import Change, encode, split


class Store:
    """The present state of a log; changes are in the log before they are here."""

    def __init__(self, path: Path) -> None:
        """Read the log, if there is one; raises DamagedError."""
        self._path = path
        self._values: dict[str, str] = {}
        self._descriptor: int | None = None
        log = path.read_bytes() if path.exists() else b""
        changes, self._length = split(log)
        self._take(changes)

    def _take(self, changes: Iterable[Change]) -> None:
        for key, value in changes:
            if value is None:
                self._values.pop(key, None)
            else:
                self._values[key] = value

    def get(self, key: str) -> str | None:
        """Give the value of a key, None if it is not there."""
        return self._values.get(key)

    def items(self) -> list[tuple[str, str]]:
        """Give all keys and values in order of the keys."""
        return sorted(self._values.items())

    def apply(self, changes: Sequence[Change]) -> None:
        """Make changes together; once this returns no kill can undo them."""
        if self._descriptor is None:
            self._open()
        self._append(encode(changes))
        self._take(changes)

    def _open(self) -> None:
        """Make the log ready for the next record: what is incomplete goes."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        self._descriptor = os.open(self._path, flags, 0o600)
        os.ftruncate(self._descriptor, self._length)

    def _append(self, record: bytes) -> None:
        rest = memoryview(record)
        while rest and self._descriptor is not None:
            rest = rest[os.write(self._descriptor, rest) :]

    def compact(self) -> None:
        """Rewrite the log with what is present; a kill leaves the old or the new."""
        draft = self._path.with_suffix(".draft")
        records = self._path.read_bytes()[: self._length]
        with draft.open("wb") as file:
            file.write(records)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self._path)

    def close(self) -> None:
        """Let go of the log."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
