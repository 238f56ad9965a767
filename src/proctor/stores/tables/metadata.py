"""What every table is registered with: how constraints are named, and keys that hold 64 bits everywhere."""

from __future__ import annotations

from sqlalchemy import BigInteger, Integer, MetaData

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
    }
)

DERIVED = {"is_derived": True}
"""Marks a table whose rows can be made again: neither backups nor copies have them."""

# SQLite assigns row ids only to a column declared INTEGER, and an INTEGER holds 64 bits there.
BigKey = BigInteger().with_variant(Integer, "sqlite")
