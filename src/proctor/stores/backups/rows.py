"""Every row of a database at one moment, as lines of JSON, and back; the same from SQLite and from PostgreSQL.

A line names a table, or holds some of its rows. A table's digest is the sum of the hashes of its rows: their order,
which databases give as they please, does not count.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import Any

import msgspec
import orjson
import sqlalchemy
from msgspec import Struct
from sqlalchemy import Boolean, Table

from proctor.domain.errors import StoreError
from proctor.domain.text import storable
from proctor.stores.backups.manifest import TableContent
from proctor.stores.connection import POSTGRESQL, Connection
from proctor.stores.copying import continue_numbers
from proctor.stores.database import Database
from proctor.stores.schema import stored_tables

ROWS_IN_A_LINE = 200
PIECE_BYTES = 16 * 1024 * 1024
LINE_BYTES = 8 * 1024 * 1024
"""A line ends there, or after the one row that is larger."""
MAX_LINE_BYTES = 1 << 30
"""What is larger was not written here; earlier versions had so many rows in a line, however large."""
_GZIP = 31
_BITS = 128
_BASE64 = "base64"


class _TableLine(Struct, frozen=True):
    table: str


_LINE: msgspec.json.Decoder[_TableLine | list[list[Any]]] = msgspec.json.Decoder(_TableLine | list[list[Any]])


class TableDigest:
    """Counts rows and adds up their hashes."""

    def __init__(self) -> None:
        self.rows, self._sum = 0, 0

    def add(self, row: Sequence[Any]) -> None:
        self.add_text(orjson.dumps(row))

    def add_text(self, row: bytes) -> None:
        """A row as it is written."""
        found = blake2b(row, digest_size=_BITS // 8).digest()
        self.rows, self._sum = self.rows + 1, (self._sum + int.from_bytes(found, "big")) % (1 << _BITS)

    @property
    def text(self) -> str:
        return f"{self._sum:0{_BITS // 4}x}"


def write_rows(connection: sqlalchemy.Connection, tables: list[TableContent]) -> Iterator[bytes]:
    """All rows as gzip of lines; `tables` is filled with what was written, as it is."""
    packer = zlib.compressobj(level=1, wbits=_GZIP)
    for table in stored_tables():
        content, digest = _content(table), TableDigest()
        yield packer.compress(orjson.dumps({"table": table.name}, option=orjson.OPT_APPEND_NEWLINE))
        for rows in _pages(connection, content):
            for line in lines_of(rows, digest):
                yield packer.compress(line)
        tables.append(_filled(content, digest))
    yield packer.flush()


def lines_of(rows: Iterable[Sequence[Any]], digest: TableDigest) -> Iterator[bytes]:
    """The rows as lines of JSON, each added to the digest; whoever reads a line holds little more than one row."""
    held, size = list[bytes](), 0
    for row in rows:
        text = orjson.dumps(row)
        digest.add_text(text)
        if held and size + len(text) > LINE_BYTES:
            yield _line(held)
            held, size = [], 0
        held.append(text)
        size += len(text)
    if held:
        yield _line(held)


def _line(rows: list[bytes]) -> bytes:
    return b"[" + b",".join(rows) + b"]\n"


def read_rows(chunks: Iterable[bytes], largest_line: int | None = None) -> Iterator[tuple[str, list[list[Any]]]]:
    """The tables and their rows, some at a time; StoreError for what is no such file, or has a line too large."""
    table = ""
    for line in _lines(chunks, MAX_LINE_BYTES if largest_line is None else largest_line):
        try:
            found = _LINE.decode(line)
        except (msgspec.MsgspecError, RecursionError):
            raise StoreError("The rows cannot be read: they are damaged.") from None
        if isinstance(found, _TableLine):
            table = found.table
            yield table, []
        else:
            yield table, found


def digests_of(chunks: Iterable[bytes]) -> dict[str, TableDigest]:
    """Of every table that the file has."""
    found: dict[str, TableDigest] = {}
    for table, rows in read_rows(chunks):
        digest = found.setdefault(table, TableDigest())
        for row in rows:
            digest.add(row)
    return found


def stored_digests(database: Database, tables: Iterable[TableContent]) -> dict[str, TableDigest]:
    """Of every one of these tables, as the database has it now."""
    found: dict[str, TableDigest] = {}
    with database.snapshot() as connection:
        for content in tables:
            digest = found[content.table] = TableDigest()
            for rows in _pages(connection, content):
                for row in rows:
                    digest.add(row)
    return found


def insert_rows(database: Database, tables: Sequence[TableContent], chunks: Iterable[bytes]) -> None:
    """Write all rows in one transaction: a restore that is interrupted leaves the database as empty as it was."""
    contents = {content.table: content for content in tables}
    with database.connection() as connection, connection.transaction():
        for table, rows in read_rows(chunks):
            if table not in contents:
                raise StoreError(f"The rows name a table {table!r}, which its manifest does not have.")
            if not rows:
                _prepare(database, connection, table)
            else:
                columns = contents[table].columns
                values = [tuple(_unpacked(value) for value in row) for row in rows]
                if any(len(row) != len(columns) for row in values):
                    raise StoreError(f"The rows of {table} in the backup are damaged: they have other columns.")
                connection.insert(table, columns, values)
    continue_numbers(database)


def _prepare(database: Database, connection: Connection, table: str) -> None:
    """PostgreSQL keeps answers by month; the evaluations, which come before them, say which months there are."""
    if database.dialect is POSTGRESQL and table == "responses":
        months = [row[0] for row in connection.execute("SELECT DISTINCT month FROM evaluations").fetchall()]
        for month in months:
            database.prepare_month(connection, month)


def _pages(connection: sqlalchemy.Connection, content: TableContent) -> Iterator[list[list[Any]]]:
    columns: list[sqlalchemy.ColumnClause[Any]] = [
        sqlalchemy.column(name, Boolean()) if name in content.booleans else sqlalchemy.column(name)
        for name in content.columns
    ]
    query = sqlalchemy.select(*columns).select_from(sqlalchemy.table(content.table))
    found = connection.execution_options(yield_per=ROWS_IN_A_LINE).execute(query)
    for rows in found.partitions(ROWS_IN_A_LINE):
        yield [[_packed(value) for value in row] for row in rows]


def _packed(value: Any) -> Any:
    """As JSON has it; NUL, which earlier versions kept in texts, is in no text of PostgreSQL."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, bytes | memoryview):
        return {_BASE64: base64.b64encode(value).decode()}
    return value


def _unpacked(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    try:
        return base64.b64decode(value[_BASE64])
    except (KeyError, TypeError, ValueError):
        raise StoreError("The rows cannot be read: they are damaged.") from None


def _lines(chunks: Iterable[bytes], largest: int) -> Iterator[bytes]:
    unpacker, held, size = zlib.decompressobj(wbits=_GZIP), list[bytes](), 0
    try:
        for chunk in chunks:
            packed = chunk
            while packed:  # piece by piece: a little can unpack to a lot
                first, *lines = unpacker.decompress(packed, PIECE_BYTES).split(b"\n")
                held.append(first)
                size += len(first)
                if lines:
                    yield b"".join(held)
                    yield from lines[:-1]
                    held, size = lines[-1:], len(lines[-1])
                packed = unpacker.unconsumed_tail
                if size > largest:
                    raise StoreError(
                        f"The rows are damaged: a line of them has no end, or more than {largest >> 20} MiB, "
                        "which none has that was written here."
                    )
        held.append(unpacker.flush())
    except zlib.error:
        raise StoreError("The rows cannot be unpacked: they are damaged.") from None
    if any(held) or not unpacker.eof:
        raise StoreError("The rows are cut short: the file is damaged.")


def _content(table: Table) -> TableContent:
    return TableContent(
        table=str(table.name),
        columns=tuple(str(column.name) for column in table.columns),
        booleans=tuple(str(column.name) for column in table.columns if isinstance(column.type, Boolean)),
        rows=0,
        digest="",
    )


def _filled(content: TableContent, digest: TableDigest) -> TableContent:
    from msgspec.structs import replace

    return replace(content, rows=digest.rows, digest=digest.text)
