"""The log's records: one line each, a checksum and the changes it makes."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator

Change = tuple[str, str | None]
"""A key and its new value, None if it is deleted."""

CHECKSUM_LENGTH = 8


class DamagedError(Exception):
    """A record is not as it was written."""


def _checksum(payload: bytes) -> bytes:
    return b"%08x" % zlib.crc32(payload)


def encode(changes: Iterable[Change]) -> bytes:
    """Give the record that makes some changes together."""
    payload = json.dumps(list(changes), separators=(",", ":")).encode()
    return _checksum(payload) + b" " + payload + b"\n"


def decode(line: bytes, number: int) -> list[Change]:
    """Give the changes of a record; raises DamagedError."""
    checksum, payload = line[:CHECKSUM_LENGTH], line[CHECKSUM_LENGTH + 1 :]
    separator = line[CHECKSUM_LENGTH : CHECKSUM_LENGTH + 1]
    if separator != b" " or len(checksum) != CHECKSUM_LENGTH:
        raise DamagedError(f"record {number} is damaged")
    return [(key, value) for key, value in json.loads(payload)]


def split(log: bytes) -> tuple[Iterator[Change], int]:
    """Give all changes of a log, and the length of its complete records.

    A line feed ends a record and occurs nowhere else, so bytes behind the
    last one are the beginning of a record whose writing was interrupted.
    """
    length = log.rfind(b"\n") + 1
    lines = log[:length].split(b"\n")[:-1]
    changes = (
        change
        for number, line in enumerate(lines, 1)
        for change in decode(line, number)
    )
    return changes, length
