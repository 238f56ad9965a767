"""CSV and JSON files."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import orjson

from proctor.benchmarks.jsonl import MAX_LINE, parse_line
from proctor.benchmarks.rows import BadRow, Row, Rows, StreamedRows
from proctor.domain.errors import BenchmarkError


def read_csv(location: str, folder: Path) -> Rows:
    """The rows of a .csv or .tsv file with a header; every value is text. Streamed."""
    return StreamedRows(location, "line", lambda: _csv_rows(folder / location, location))


def _csv_rows(path: Path, label: str) -> Iterator[Row]:
    csv.field_size_limit(MAX_LINE)
    delimiter = "\t" if path.suffix == ".tsv" else ","
    try:
        # Bytes that are not UTF-8 become lone surrogates: found per row, so that each has its line.
        with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
            reader = csv.reader(file, delimiter=delimiter, strict=True)
            yield from _numbered(reader, label)
    except FileNotFoundError as missing:
        raise BenchmarkError(f"There is no data file {label}.") from missing
    except OSError as fault:
        raise BenchmarkError(f"{label} cannot be read: {fault.strerror or fault}.") from fault


def _numbered(reader: Any, label: str) -> Iterator[Row]:
    try:
        header = next(reader, None)
    except csv.Error as mistake:
        raise BenchmarkError(f"{label}:1: the header is not valid CSV: {mistake}.") from mistake
    if not header:
        raise BenchmarkError(f"{label} is empty: a CSV file begins with the names of its columns.")
    repeated = {name for name in header if header.count(name) > 1}
    if repeated:
        raise BenchmarkError(f"{label}:1: the column {min(repeated)!r} is there twice.")
    while True:
        line = reader.line_num + 1
        try:
            values = next(reader, None)
        except csv.Error as mistake:
            yield line, BadRow(f"it is not valid CSV: {mistake}")
            continue
        if values is None:
            return
        if values:
            yield line, _csv_row(header, values)


def _csv_row(header: Sequence[str], values: Sequence[str]) -> dict[str, str] | BadRow:
    if len(values) != len(header):
        return BadRow(f"it has {len(values)} values, the header has {len(header)} names")
    for name, value in zip(header, values, strict=True):
        if not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value):
            return BadRow(f"column {name!r} is not UTF-8")
        if "\0" in value:
            return BadRow(f"column {name!r} holds a NUL character")
    return dict(zip(header, values, strict=True))


def read_json(location: str, folder: Path) -> Rows:
    """The rows of a .json file: a list of objects, or an object with exactly one such list. Held in memory."""
    return JsonRows(folder / location, location)


class JsonRows:
    """A JSON file has no lines to stream, so its rows are kept once read; use JSON lines for what is large."""

    unit = "row"

    def __init__(self, path: Path, label: str) -> None:
        self.path, self.label = path, label
        self._rows: list[Any] | None = None

    def __iter__(self) -> Iterator[Row]:
        return self.at(range(len(self._load())))

    def at(self, positions: Sequence[int]) -> Iterator[Row]:
        rows = self._load()
        for position in positions:
            if position >= len(rows):
                raise BenchmarkError(f"{self.label} has no row {position + 1}: it has {len(rows)}.")
            # Read as JSON lines are, so that the same row has the same faults.
            yield position + 1, parse_line(orjson.dumps(rows[position]))

    def _load(self) -> list[Any]:
        if self._rows is None:
            self._rows = _list_in(_parsed(self.path, self.label), self.label)
        return self._rows


def _parsed(path: Path, label: str) -> Any:
    try:
        content = path.read_bytes().removeprefix(b"\xef\xbb\xbf")
    except FileNotFoundError as missing:
        raise BenchmarkError(f"There is no data file {label}.") from missing
    except OSError as fault:
        raise BenchmarkError(f"{label} cannot be read: {fault.strerror or fault}.") from fault
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError as mistake:
        raise BenchmarkError(f"{label}:{mistake.lineno}: this is not valid JSON: {mistake.msg}.") from mistake


def _list_in(value: Any, label: str) -> list[Any]:
    if isinstance(value, list):
        return value
    lists = [item for item in value.values() if isinstance(item, list)] if isinstance(value, dict) else []
    if len(lists) != 1:
        raise BenchmarkError(f"{label}: expected a list of objects, or an object that holds exactly one such list.")
    rows: list[Any] = lists[0]
    return rows
