"""Plans that people saved to run them again; each change says which revision it was made from."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from typing import Any

import orjson
from msgspec import Struct

from proctor.domain.errors import NotFoundError
from proctor.stores.codec import to_json
from proctor.stores.connection import Row
from proctor.stores.database import Database
from proctor.stores.moments import now_text
from proctor.stores.scoping import scope_filter

PREFIX = "p-"


def new_ordered_id(prefix: str) -> str:
    """Sorts by time, to the millionth of a second."""
    return f"{prefix}{time.time_ns():x}{secrets.token_hex(2)}"


class SavedPlanRow(Struct, frozen=True):
    id: str
    name: str
    plan: Mapping[str, Any]
    revision: int
    author: str
    created_at: str
    updated_at: str


class SavedPlanStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, name: str, plan: Mapping[str, Any], author: str) -> SavedPlanRow:
        plan_id, now = new_ordered_id(PREFIX), now_text()
        with self._database.connection() as connection:
            connection.execute(
                "INSERT INTO saved_plans (id, name, plan, revision, author, created_at, updated_at, project) "
                "VALUES (?, ?, ?, 1, ?, ?, ?, ?)",
                [plan_id, name, to_json(plan), author, now, now, self._database.scope.owner],
            )
        return self.get(plan_id)

    def get(self, plan_id: str) -> SavedPlanRow:
        scope = scope_filter(self._database, "saved_plans")
        with self._database.connection() as connection:
            row = connection.execute(
                f"SELECT * FROM saved_plans WHERE id = ?{scope.sql}",  # noqa: S608 - our own words
                [plan_id, *scope.values],
            ).fetchone()
        if row is None:
            raise NotFoundError(f"No saved plan {plan_id!r}.")
        return _plan_row(row)

    def listed(self, *, after: str | None = None, limit: int = 50) -> list[SavedPlanRow]:
        """Newest first; `after` is the last one seen."""
        scope = scope_filter(self._database, "saved_plans")
        older, values = ("", []) if after is None else (" AND id < ?", [after])
        query = f"SELECT * FROM saved_plans WHERE 1 = 1{scope.sql}{older} ORDER BY id DESC LIMIT ?"  # noqa: S608
        with self._database.connection() as connection:
            rows = connection.execute(query, [*scope.values, *values, limit]).fetchall()
        return [_plan_row(row) for row in rows]

    def replace(self, plan_id: str, revision: int, name: str, plan: Mapping[str, Any]) -> SavedPlanRow | None:
        """The plan as it is now; None where it is not at that revision any more, and nothing was changed."""
        scope = scope_filter(self._database, "saved_plans")
        with self._database.connection() as connection:
            what = "name = ?, plan = ?, revision = revision + 1, updated_at = ?"
            changed = connection.execute(
                f"UPDATE saved_plans SET {what} WHERE id = ? AND revision = ?{scope.sql}",  # noqa: S608 - our own
                [name, to_json(plan), now_text(), plan_id, revision, *scope.values],
            ).rowcount
        found = self.get(plan_id)
        return found if changed else None

    def delete(self, plan_id: str) -> None:
        """Runs that were made from it stay."""
        self.get(plan_id)
        scope = scope_filter(self._database, "saved_plans")
        with self._database.connection() as connection:
            connection.execute(
                f"DELETE FROM saved_plans WHERE id = ?{scope.sql}",  # noqa: S608 - our own words
                [plan_id, *scope.values],
            )


def _plan_row(row: Row) -> SavedPlanRow:
    return SavedPlanRow(
        row["id"], row["name"], orjson.loads(row["plan"]), row["revision"], row["author"], row["created_at"],
        row["updated_at"],
    )  # fmt: skip
