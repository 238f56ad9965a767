"""JSON lines: streamed, never held in memory; single rows are found again by their offsets."""

from __future__ import annotations

import gzip
import json
import os
import zlib
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import orjson

from proctor.benchmarks.rows import BadRow, Row, Rows, StreamedRows
from proctor.domain.errors import BenchmarkError

Parse = Callable[[bytes], Mapping[str, Any] | BadRow]
MAX_LINE = 16_000_000
"""Bytes of the longest line that is taken for a row rather than for a mistake."""
_BOM = b"\xef\xbb\xbf"
_BLANK = b" \t\r\n\v\f"


def read_jsonl(location: str, folder: Path) -> Rows:
    """The rows of a .jsonl or .jsonl.gz file."""
    path, label = folder / location, location
    if path.suffix == ".gz":
        return StreamedRows(label, "line", lambda: _zipped(path, label))
    return JsonLines(path, label)


def read_python_jsonl(location: str, folder: Path) -> Rows:
    """JSON lines as Python writes them: NaN and Infinity are numbers, and NUL characters may be in texts."""
    return JsonLines(folder / location, location, _parse_python)


class JsonLines:
    """A file of JSON lines; where its rows begin is noted as it is read, in eight bytes a row."""

    unit = "line"

    def __init__(self, path: Path, label: str, parse: Parse | None = None) -> None:
        self.path, self.label = path, label
        self._parse = parse or parse_line
        self._offsets: array[int] | None = None
        self._blanks: array[int] = array("Q")
        """For each blank line, the position of the row after it: tells a row's line from its position."""
        self._stamp: tuple[int, int] | None = None

    def __iter__(self) -> Iterator[Row]:
        return ((line, self._parse(raw)) for line, raw in self._walk())

    def _walk(self) -> Iterator[tuple[int, bytes]]:
        offsets, blanks = array("Q"), array("Q")
        with _opened(self.path, self.label) as file:
            stamp = _stamp(file)
            self._refuse_change(stamp)
            for line, offset, raw in _lines_of(file):
                while line - len(blanks) > len(offsets) + 1:
                    blanks.append(len(offsets))
                offsets.append(offset)
                yield line, raw
        self._offsets, self._blanks, self._stamp = offsets, blanks, stamp

    def _refuse_change(self, stamp: tuple[int, int]) -> None:
        """Results of two different files must never be taken for one."""
        if self._stamp not in (None, stamp):
            raise BenchmarkError(f"{self.label} was changed while it was in use; run again with the file as it is now.")

    def at(self, positions: Sequence[int]) -> Iterator[Row]:
        if self._offsets is None:
            for _ in self._walk():
                pass
        offsets = self._offsets or array("Q")
        with _opened(self.path, self.label) as file:
            self._refuse_change(_stamp(file))
            for position in positions:
                if position >= len(offsets):
                    raise BenchmarkError(f"{self.label} has no row {position + 1}: it has {len(offsets)}.")
                file.seek(offsets[position])
                line = position + 1 + bisect_right(self._blanks, position)
                yield line, self._parse(file.readline(MAX_LINE + 1))


def _stamp(file: IO[bytes]) -> tuple[int, int]:
    status = os.fstat(file.fileno())
    return status.st_size, status.st_mtime_ns


def _opened(path: Path, label: str) -> IO[bytes]:
    try:
        return path.open("rb", buffering=1 << 18)
    except FileNotFoundError as missing:
        raise BenchmarkError(f"There is no data file {label}.") from missing
    except OSError as fault:
        raise BenchmarkError(f"{label} cannot be read: {fault.strerror or fault}.") from fault


def _lines_of(file: IO[bytes]) -> Iterator[tuple[int, int, bytes]]:
    """Number, offset and bytes of each line that is not blank; of a line too long, only its beginning."""
    offset, number = 0, 0
    readline, limit = file.readline, MAX_LINE + 1
    if file.read(3) == _BOM:
        offset = 3
    file.seek(offset)
    while raw := readline(limit):
        number += 1
        size = len(raw)
        if size == limit and not raw.endswith(b"\n"):
            while rest := readline(limit):
                size += len(rest)
                if rest.endswith(b"\n"):
                    break
        if raw.strip(_BLANK):
            yield number, offset, raw
        offset += size


def parse_line(raw: bytes) -> Mapping[str, Any] | BadRow:
    """A line's row, or what is wrong with it."""
    try:
        row = orjson.loads(raw)
    except orjson.JSONDecodeError as mistake:
        return BadRow(_what_is_wrong(raw, mistake))
    if type(row) is not dict:
        return BadRow(f"a row is an object in braces, not {_kind(row)}")
    # Not by `in`, which tries the bytes as a number first: an exception is made and dropped for each row.
    if raw.find(b"\\u0000") >= 0 and _has_nul(row):
        return BadRow("it holds a NUL character, which no database takes as text")
    return row


def _parse_python(raw: bytes) -> Mapping[str, Any] | BadRow:
    try:
        row = json.loads(raw)
    except (ValueError, RecursionError) as mistake:
        return BadRow(f"it is not valid JSON: {mistake}")
    return row if type(row) is dict else BadRow(f"a row is an object in braces, not {_kind(row)}")


def _what_is_wrong(raw: bytes, mistake: orjson.JSONDecodeError) -> str:
    if len(raw) > MAX_LINE:
        return f"the line is longer than {MAX_LINE:,} bytes"
    if b"\0" in raw:
        return "it holds NUL bytes: this is not text"
    try:
        raw.decode()
    except UnicodeDecodeError as wrong:
        return f"it is not UTF-8 (byte {wrong.start + 1} of the line is 0x{raw[wrong.start]:02x})"
    return f"it is not valid JSON: {mistake.msg} (column {mistake.colno})"


def _kind(value: object) -> str:
    kinds = {list: "a list", str: "text", int: "a number", float: "a number", bool: "true or false"}
    return kinds.get(type(value), "null")


def _has_nul(value: Any) -> bool:
    if isinstance(value, str):
        return "\0" in value
    if isinstance(value, dict):
        return any(_has_nul(key) or _has_nul(item) for key, item in value.items())
    return isinstance(value, list) and any(_has_nul(item) for item in value)


def _zipped(path: Path, label: str) -> Iterator[Row]:
    with _opened(path, label) as packed, gzip.open(packed) as file:
        try:
            for line, _, raw in _lines_of(file):  # type: ignore[arg-type]  # a GzipFile reads as any file does
                yield line, parse_line(raw)
        except (gzip.BadGzipFile, EOFError, zlib.error) as fault:
            raise BenchmarkError(f"{label} is not a whole gzip file: {fault}.") from fault
