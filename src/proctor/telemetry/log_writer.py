"""Log lines go out in a thread of their own: whoever logs is never held up by a pipe that nobody reads.

Each line is written with one system call, so that lines of several processes do not mix.
"""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import sys
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from queue import Empty, SimpleQueue

MAX_WAITING = 10_000
CLOSE_SECONDS = 2.0
PREFIX, SUFFIX = "proctor-", ".jsonl"


class LineWriter:
    """Writes to standard error, or to a file a day in a folder, of which those that are too old are removed."""

    def __init__(self, folder: Path | None = None, days: int = 30) -> None:
        self._folder, self._days = folder, days
        self.dropped = 0
        """Lines that were not written, because nobody took those before them."""
        self._begin()
        os.register_at_fork(after_in_child=self._begin)
        atexit.register(self.close)

    def _begin(self) -> None:
        """A forked child has none of its parent's threads, and must not write what its parent still has to."""
        # Signal handlers log, too, and may interrupt whoever is just logging: neither lock may wait for its own thread.
        self._lines: SimpleQueue[bytes | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._starting = threading.RLock()
        self._day, self._file = "", -1

    def put(self, line: str) -> None:
        if self._thread is None:
            with self._starting:
                if self._thread is None:
                    self._thread = threading.Thread(target=self._write_forever, name="log", daemon=True)
                    self._thread.start()
        if self._lines.qsize() < MAX_WAITING:
            self._lines.put(line.encode("utf-8", "replace") + b"\n")
        else:
            self.dropped += 1

    def close(self) -> None:
        """Write what waits, for as long as somebody takes it within seconds; calling it twice is harmless."""
        if self._thread is not None and self._thread.is_alive():
            self._lines.put(None)
            self._thread.join(CLOSE_SECONDS)

    def _write_forever(self) -> None:
        while True:
            try:
                line = self._lines.get(timeout=60)
            except Empty:
                continue
            if line is None:
                return
            with contextlib.suppress(OSError):  # a full disk, a reader that is gone: there is nobody to tell
                os.write(self._descriptor(), line)

    def _descriptor(self) -> int:
        if self._folder is None:
            return sys.__stderr__.fileno() if sys.__stderr__ is not None else 2
        day = datetime.now(UTC).strftime("%Y-%m-%d")
        if day != self._day:
            if self._file >= 0:
                os.close(self._file)
            self._folder.mkdir(parents=True, exist_ok=True)
            path = self._folder / f"{PREFIX}{day}{SUFFIX}"
            self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o640)
            self._day = day
            remove_old_logs(self._folder, self._days)
        return self._file


def remove_old_logs(folder: Path, days: int) -> list[Path]:
    """Remove the files of days that are longer ago; gives them. Nothing else in the folder is touched."""
    oldest = datetime.now(UTC).date() - timedelta(days=days)
    removed = []
    for path in sorted(folder.glob(f"{PREFIX}*{SUFFIX}")):
        try:
            day = datetime.strptime(path.name, f"{PREFIX}%Y-%m-%d{SUFFIX}").replace(tzinfo=UTC).date()
        except ValueError:
            continue
        if day < oldest:
            path.unlink(missing_ok=True)
            removed.append(path)
    return removed


class LineHandler(logging.Handler):
    """Formats where it is logged, because what holds there is part of the line; writes elsewhere."""

    def __init__(self, writer: LineWriter) -> None:
        super().__init__()
        self.writer = writer

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self.writer.put(self.format(record))
        except Exception:  # noqa: BLE001 - a line that cannot be written must not end what it is about
            self.handleError(record)

    def close(self) -> None:
        self.writer.close()
        super().close()
