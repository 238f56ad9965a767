"""A source of rows: the sections of an .ini file, for `source: words.ini` or `source: ini://words.ini`."""

from __future__ import annotations

from collections.abc import Iterator
from configparser import ConfigParser, Error
from pathlib import Path

from proctor.benchmarks.rows import Row, Rows, StreamedRows
from proctor.domain.errors import BenchmarkError


def read(location: str, folder: Path) -> Rows:
    """Each section is a row, with its name as the id."""

    def rows() -> Iterator[Row]:
        parser = ConfigParser(interpolation=None)
        try:
            parser.read_string((folder / location).read_text(encoding="utf-8"))
        except (OSError, Error) as fault:
            raise BenchmarkError(f"{location} cannot be read: {fault}.") from fault
        for number, section in enumerate(parser.sections(), start=1):
            yield number, {"id": section, **parser[section]}

    return StreamedRows(location, "section", rows)
