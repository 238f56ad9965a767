"""Every column that holds what is sealed, to be sealed anew with another secret."""

from __future__ import annotations

from collections.abc import Callable

from proctor.stores.database import Database

SEALED = (("provider_keys", "id", "sealed"), ("webhooks", "id", "sealed"), ("webhooks", "id", "former"))
"""Table, key and column."""


def seal_anew(database: Database, renew: Callable[[str], str]) -> int:
    """Replace each sealed value by what `renew` makes of it; one that changes meanwhile is left as it is then."""
    count = 0
    for table, key, column in SEALED:
        with database.connection() as connection:
            query = f"SELECT {key}, {column} FROM {table} WHERE {column} IS NOT NULL"  # noqa: S608 - our own words
            rows = [tuple(row) for row in connection.execute(query).fetchall()]
            for name, sealed in rows:
                count += connection.execute(
                    f"UPDATE {table} SET {column} = ? WHERE {key} = ? AND {column} = ?",  # noqa: S608 - our own words
                    [renew(sealed), name, sealed],
                ).rowcount
    return count
