"""A file of JSON objects that is only ever added to."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


class Journal:
    """Remembers records over the death of the process."""

    def __init__(self, path: Path) -> None:
        """Take up the file, without a record that was not finished."""
        self._file = path.open("a+b", buffering=0)
        self._file.seek(0)
        content = self._file.read()
        self._complete = content[: content.rfind(b"\n") + 1]
        self._file.truncate(len(self._complete))

    def records(self) -> Iterator[dict[str, Any]]:
        """Give all records of earlier processes."""
        return (json.loads(line) for line in self._complete.splitlines())

    def add(self, record: dict[str, Any]) -> None:
        """Append a record; a kill does not undo it once this returns."""
        self._file.write(json.dumps(record).encode() + b"\n")

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()
