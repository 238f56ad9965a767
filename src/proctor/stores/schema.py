"""The whole relational schema: one definition for SQLite and PostgreSQL, for migrations and for every query."""

from __future__ import annotations

from sqlalchemy import Table

from proctor.stores.tables import (  # noqa: F401 - each registers its tables
    accounts,
    models,
    packed,
    playground,
    programs,
    projects,
    queue,
    results,
    runs,
    webhooks,
)
from proctor.stores.tables.metadata import metadata

__all__ = ("as_sqlite_script", "metadata", "stored_tables")


def stored_tables() -> list[Table]:
    """Every table whose rows cannot be made again; those that others refer to come first."""
    return [table for table in metadata.sorted_tables if not table.info.get("is_derived")]


def as_sqlite_script() -> str:
    """The whole schema as SQL for a new SQLite file: what `schema.sql` holds."""
    from sqlalchemy.dialects import sqlite
    from sqlalchemy.schema import CreateIndex, CreateTable

    dialect = sqlite.dialect()
    statements = []
    for table in metadata.sorted_tables:
        statements.append(str(CreateTable(table).compile(dialect=dialect)).strip())
        indexes = sorted(table.indexes, key=lambda index: str(index.name))
        statements += [str(CreateIndex(index).compile(dialect=dialect)).strip() for index in indexes]
    script = ";\n\n".join(statements) + ";\n"
    return "\n".join(line.rstrip() for line in script.splitlines()) + "\n"
