"""`proctor db`: manage the database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from proctor.cli.echo import echo
from proctor.cli.options import as_json

if TYPE_CHECKING:
    from proctor.stores.database import Database


@click.group(short_help="Upgrade, look at and copy the database.")
def db() -> None:
    """Manage the database that stores the results."""


@contextmanager
def _located(url: str | None = None) -> Iterator[Database]:
    """The database of this environment, or of an address, as it is: not made and not upgraded."""
    from proctor.settings import Settings
    from proctor.stores.database import locate_database

    found = locate_database(url or Settings.from_environment().database_url)
    try:
        yield found
    finally:
        found.dispose()


@db.command()
@as_json
def upgrade(as_json: bool) -> None:
    """Upgrade the database to this version's schema.

    A file is also upgraded by the first command that uses it, and a copy is kept beside it. A PostgreSQL database is
    upgraded by this command only: make a backup first. Several processes may try at once; one does it.
    """
    from proctor.cli.context import print_json
    from proctor.stores.database import NewerDatabaseError
    from proctor.stores.upgrade import HEAD, steps

    with _located() as found:
        with found.explained():
            version = found.version()
        if version is not None and version > HEAD:
            raise NewerDatabaseError(found.label, version)
        missing = steps(version) if version != HEAD else []
        if not as_json:
            for number, about in missing:
                echo(f"{number}  {about}")
            if missing and version is not None and (copy := found.backup()) is not None:
                echo(f"A copy of the database is kept in {copy}.")
        if version is None:
            found.open()
        elif missing:
            with found.explained():
                found.upgrade()
        if as_json:
            applied = [number for number, _ in missing]
            print_json({"database": found.label, "schema": HEAD, "from": version, "applied": applied})
        else:
            echo(f"{found.label} is at schema {HEAD}.")


@db.command()
@as_json
def status(as_json: bool) -> None:
    """Show where the database is, its schema, its size and how many rows it has; nothing is changed."""
    from proctor.cli.context import print_json
    from proctor.stores.copying import count_rows
    from proctor.stores.upgrade import HEAD

    with _located() as found:
        with found.explained():
            version = found.version()
        is_current = version == HEAD
        rows = count_rows(found) if is_current else {}
        with found.explained():
            size = found.size_bytes() if version is not None else None
        if as_json:
            print_json({
                "database": found.label, "engine": found.dialect.name, "schema": version, "needed": HEAD,
                "is_current": is_current, "size_bytes": size, "rows": rows,
            })  # fmt: skip
            return
        echo(f"{found.label} ({found.dialect.name})")
        if version is None:
            echo("There is no table yet; the first run makes them.")
            return
        hint = "" if is_current else f"; this version of Proctor needs {HEAD}: run 'proctor db upgrade'"
        if version > HEAD:
            hint = f", of a newer version of Proctor; this one knows {HEAD}: upgrade Proctor"
        echo(f"schema {version}{hint}, {(size or 0) / 2**20:,.1f} MiB")
        width = max(map(len, rows), default=0)
        for table, count in rows.items():
            echo(f"  {table:<{width}}{count:>14,}")


@db.command()
@click.argument("source")
@click.argument("target")
@as_json
def copy(source: str, target: str, as_json: bool) -> None:
    """Copy everything from the database SOURCE into TARGET, and compare both.

    Both are addresses as in PROCTOR_DATABASE_URL: sqlite:///PATH or postgresql://USER@HOST/NAME. TARGET is made where
    it is not there; it is empty, or the beginning of a copy that was interrupted, which goes on where it was. SOURCE is
    not changed. Let nothing write to either meanwhile.
    """
    from proctor.cli.context import print_json
    from proctor.domain.errors import NotFoundError
    from proctor.stores.copying import copy_database

    with _located(source) as one, _located(target) as other:
        with one.explained():
            if not one.is_current():
                version = one.version()
                raise NotFoundError(
                    f"There is no database {one.label}."
                    if version is None
                    else f"{one.label} has schema {version}: upgrade it first with 'proctor db upgrade'."
                )
        other.open()

        def tell(table: str, done: int, total: int) -> None:
            if not as_json:
                echo(f"{table}: {done:,} of {total:,} rows", err=True)

        copied = copy_database(one, other, tell)
        if as_json:
            print_json({"from": one.label, "to": other.label, "tables": copied})
            return
        rows = sum(table.rows for table in copied)
        echo(f"Copied {rows:,} rows in {len(copied)} tables to {other.label}; every table is the same on both sides.")
