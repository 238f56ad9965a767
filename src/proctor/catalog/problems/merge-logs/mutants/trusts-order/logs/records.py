"""Log files to records: lines with an instant and a level; what is no record is reported."""

import json
import re
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import IO

LEVELS = ("debug", "info", "warning", "error")
Instant = tuple[int, int]
"""Whole seconds and nanoseconds."""
_TIME = re.compile(
    r"(\d{4}-\d\d-\d\dT\d\d:\d\d:[0-5]\d)(?:\.(\d{1,9}))?(?:Z|([+-])(\d\d):(\d\d))",
    re.ASCII,
)
_START = datetime(1970, 1, 1)


class NotATimeError(ValueError):
    """A text that is no time."""


class NotARecordError(ValueError):
    """A line that is no record."""


class UnreadableError(Exception):
    """A file that cannot be read."""


@dataclass(frozen=True, slots=True)
class Record:
    """A good line."""

    instant: Instant
    level: int
    line: bytes


def parse_time(text: str) -> Instant:
    """Read a time; raises NotATimeError."""
    match = _TIME.fullmatch(text)
    if match is None:
        raise NotATimeError(f"{text!r} is no time")
    whole, fraction, sign, hours, minutes = match.groups()
    try:
        moment = datetime.fromisoformat(whole)
        shift = timedelta(hours=int(hours or 0), minutes=int(minutes or 0))
    except ValueError:
        raise NotATimeError(f"{text!r} is no time") from None
    if sign and (int(hours) > 23 or int(minutes) > 59):
        raise NotATimeError(f"{text!r} has no valid offset")
    seconds = (moment - _START) // timedelta(seconds=1)
    away = shift // timedelta(seconds=1) * (-1 if sign == "-" else 1)
    return seconds - away, int((fraction or "").ljust(9, "0"))


def _parse_record(line: bytes) -> Record:
    """Read a line; raises ValueError with the reason."""
    try:
        found = json.loads(line.decode())
    except RecursionError:
        raise NotARecordError("nested too deeply") from None
    if not isinstance(found, dict):
        raise NotARecordError("not a JSON object")
    time = found.get("time")
    if not isinstance(time, str):
        raise NotARecordError("no time")
    level = found.get("level", "info")
    if level not in LEVELS:
        raise NotARecordError("an unknown level")
    return Record(parse_time(time), LEVELS.index(level), line)


class Log:
    """One file's records, in order; bad lines are reported and counted on the way."""

    def __init__(self, name: str, file: IO[bytes]) -> None:
        """Take a file that is open."""
        self.name = name
        self.bad = 0
        self._file = file

    def __iter__(self) -> Iterator[Record]:
        latest: Instant | None = None
        for number, raw in enumerate(self._file, start=1):
            line = raw.removesuffix(b"\n")
            if not line.strip():
                continue
            try:
                record = _parse_record(line)
                if latest is not None and record.instant is None:
                    raise NotARecordError("earlier than the line before")
            except ValueError as error:
                self._report(number, error)
                continue
            latest = record.instant
            yield record

    def _report(self, number: int, error: ValueError) -> None:
        self.bad += 1
        reason = " ".join(str(error).split())
        print(f"{self.name}:{number}: {reason}", file=sys.stderr)


def _opened(name: str) -> AbstractContextManager[IO[bytes]]:
    return nullcontext(sys.stdin.buffer) if name == "-" else Path(name).open("rb")


def open_all(names: list[str], stack: ExitStack) -> list[Log]:
    """Open every file before anything is written; raises UnreadableError."""
    logs = []
    for name in names:
        try:
            file = stack.enter_context(_opened(name))
        except OSError as error:
            raise UnreadableError(f"{name}: {error.strerror}") from None
        logs.append(Log(name, file))
    return logs
