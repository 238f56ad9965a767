"""Copies everything from one database into another, and proves that it is the same.

Rows go over in the order of their keys, a page in a transaction: a copy that was interrupted goes on where it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hashlib import blake2b
from typing import Any

import orjson
from msgspec import Struct
from sqlalchemy import Table, func, select, tuple_

from proctor.domain.errors import StoreError, UserError
from proctor.domain.scope import EVERYTHING
from proctor.domain.text import storable
from proctor.stores.connection import POSTGRESQL
from proctor.stores.database import Database
from proctor.stores.schema import stored_tables
from proctor.stores.tables.runs import evaluations, runs

ROWS_AT_ONCE = 2_000
NUMBERED = ("evaluations", "batches", "chunks")
"""Tables whose ids the database hands out."""
Told = Callable[[str, int, int], None]
"""Is told a table, how many of its rows are there, and of how many."""


class CopiedTable(Struct, frozen=True):
    table: str
    rows: int
    digest: str
    """Of every row of it, the same on both sides."""


def copy_database(source: Database, target: Database, tell: Told = lambda *_: None) -> list[CopiedTable]:
    """Copy every table and compare both sides; the target is empty, or the beginning of an earlier copy."""
    _refuse_narrow(source, target)
    _refuse_strangers(source, target)
    with source.reading() as connection:
        months = [row[0] for row in connection.execute(select(evaluations.c.month).distinct())]
    with target.connection() as opened, opened.transaction():
        for month in months:
            target.prepare_month(opened, month)
    for table in stored_tables():
        _copy_table(source, target, table, tell)
    continue_numbers(target)
    return [_compared(source, target, table) for table in stored_tables()]


def count_rows(database: Database) -> dict[str, int]:
    """How many rows each table has."""
    _refuse_narrow(database)
    with database.reading() as connection:
        return {
            table.name: connection.execute(select(func.count()).select_from(table)).scalar_one()
            for table in stored_tables()
        }


def _refuse_narrow(*databases: Database) -> None:
    if any(database.scope != EVERYTHING for database in databases):
        raise ValueError("whole tables are of every project")


def _refuse_strangers(source: Database, target: Database) -> None:
    """A database with runs of its own is no copy: their numbers would mean other things."""
    with source.reading() as connection:
        known = set(connection.execute(select(runs.c.id)).scalars())
    with target.reading() as connection:
        strangers = set(connection.execute(select(runs.c.id)).scalars()) - known
    if strangers:
        some = ", ".join(sorted(strangers)[:3])
        raise UserError(f"{target.label} has runs that {source.label} has not ({some}). Copy into an empty database.")


def _copy_table(source: Database, target: Database, table: Table, tell: Told) -> None:
    names = tuple(column.name for column in table.columns)
    with source.reading() as connection:
        total = connection.execute(select(func.count()).select_from(table)).scalar_one()
    last = _last_key(target, table)
    with target.reading() as connection:
        done = connection.execute(select(func.count()).select_from(table)).scalar_one()
    for page in _pages(source, table, last):
        with target.connection() as opened, opened.transaction():
            opened.insert(table.name, names, [_plain(row) for row in page], "ON CONFLICT DO NOTHING")
        done += len(page)
        tell(table.name, done, total)


def _last_key(database: Database, table: Table) -> tuple[Any, ...] | None:
    keys = list(table.primary_key)
    query = select(*keys).order_by(*(key.desc() for key in keys)).limit(1)
    with database.reading() as connection:
        row = connection.execute(query).first()
    return None if row is None else tuple(row)


def _pages(database: Database, table: Table, last: tuple[Any, ...] | None = None) -> Iterator[list[Any]]:
    """All rows in the order of their keys, from after `last` on."""
    keys = list(table.primary_key)
    while True:
        query = select(table).order_by(*keys).limit(ROWS_AT_ONCE)
        if last is not None:
            query = query.where(tuple_(*keys) > last)
        with database.reading() as connection:
            page = list(connection.execute(query))
        if not page:
            return
        yield page
        last = tuple(getattr(page[-1], key.name) for key in keys)


def _plain(row: Any) -> tuple[Any, ...]:
    """A row as both databases take it; PostgreSQL refuses NUL, which earlier versions kept."""
    return tuple(storable(value) if isinstance(value, str) else value for value in row)


def continue_numbers(target: Database) -> None:
    """Let the ids that the database hands out go on after those that are there."""
    if target.dialect is not POSTGRESQL:
        return
    with target.connection() as connection:
        for table in NUMBERED:
            first = f"(SELECT coalesce(max(id), 0) + 1 FROM {table})"  # noqa: S608 - our own names
            connection.execute(f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), {first}, false)")


def _compared(source: Database, target: Database, table: Table) -> CopiedTable:
    (count, digest), (other_count, other_digest) = _digest(source, table), _digest(target, table)
    if (count, digest) != (other_count, other_digest):
        raise StoreError(
            f"The table {table.name} is not the same on both sides ({count:,} and {other_count:,} rows): something "
            f"wrote meanwhile. Nothing in {source.label} was changed; empty {target.label} and copy again."
        )
    return CopiedTable(table.name, count, digest)


def _digest(database: Database, table: Table) -> tuple[int, str]:
    found, count = blake2b(digest_size=16), 0
    for page in _pages(database, table):
        for row in page:
            found.update(orjson.dumps(_plain(row)))
        count += len(page)
    return count, found.hexdigest()
