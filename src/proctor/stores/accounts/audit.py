"""What was done, by whom, from where, with what outcome: rows that are only ever added, each with the last one's hash.

Whoever changes, removes or inserts a row later breaks the chain behind it, unless he computes all of it anew; against
that the newest hash is kept elsewhere (`proctor audit verify` prints it).
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256

import orjson
from msgspec import Struct
from msgspec.structs import astuple, replace

from proctor.domain.text import shorten, storable
from proctor.stores.connection import POSTGRESQL
from proctor.stores.database import Database
from proctor.stores.moments import now_text

ROWS_AT_A_TIME = 1_000
LOCK = 0x61756469740000
"""The advisory lock of whoever adds a row."""
BEGINNING = "0" * 64


class AuditRow(Struct, frozen=True):
    number: int
    at: str
    who: str
    what: str
    object: str
    project: str
    address: str
    outcome: str
    before: str
    hash: str = ""

    def computed_hash(self) -> str:
        return sha256(orjson.dumps(astuple(self)[:-1])).hexdigest()


_COLUMNS = ", ".join(AuditRow.__struct_fields__)


class AuditStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    def add(
        self, who: str, what: str, *, of: str = "", project: str = "", address: str = "", outcome: str = "done"
    ) -> AuditRow:
        with self._database.connection() as connection, connection.transaction(is_short=True):
            if self._database.dialect is POSTGRESQL:
                connection.execute("SELECT pg_advisory_xact_lock(?)", [LOCK])
            last = connection.execute("SELECT number, hash FROM audit ORDER BY number DESC LIMIT 1").fetchone()
            number, before = (1, BEGINNING) if last is None else (last[0] + 1, last[1])
            who, what, of, project, address, outcome = (
                storable(shorten(text)) for text in (who, what, of, project, address, outcome)
            )
            row = AuditRow(number, now_text(), who, what, of, project, address, outcome, before)
            row = replace(row, hash=row.computed_hash())
            connection.insert("audit", AuditRow.__struct_fields__, [astuple(row)])
        return row

    def rows(self, after: int = 0, project: str | None = None) -> Iterator[AuditRow]:
        """In their order, those with a higher number than `after`."""
        mine, values = ("", ()) if project is None else (" AND project = ?", (project,))
        query = f"SELECT {_COLUMNS} FROM audit WHERE number > ?{mine} ORDER BY number LIMIT ?"  # noqa: S608 - our own
        while True:
            with self._database.connection() as connection:
                found = connection.execute(query, [after, *values, ROWS_AT_A_TIME]).fetchall()
            for row in found:
                after = row[0]
                yield AuditRow(*tuple(row))
            if len(found) < ROWS_AT_A_TIME:
                return

    def first_broken(self) -> tuple[int | None, int, str]:
        """The number of the first row that is not what was written; how many there are; and the newest hash."""
        before, count = BEGINNING, 0
        for row in self.rows():
            count += 1
            if row.number != count or row.before != before or row.hash != row.computed_hash():
                return count, count, before
            before = row.hash
        return None, count, before
