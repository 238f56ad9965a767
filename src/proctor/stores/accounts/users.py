"""Users and their memberships."""

from __future__ import annotations

import secrets
import time

from msgspec import Struct

from proctor.domain.errors import NotFoundError, UserError
from proctor.domain.role import Role
from proctor.domain.scope import LOCAL
from proctor.stores.accounts.token_families import end_families_of
from proctor.stores.connection import Connection, Row
from proctor.stores.database import Database
from proctor.stores.moments import now_text


class UserRow(Struct, frozen=True):
    id: str
    name: str
    is_admin: bool
    created_at: str
    disabled_at: str | None
    has_password: bool


class MemberRow(Struct, frozen=True):
    project: str
    user: str
    """His name."""
    user_id: str
    role: Role


_USER = "id, name, is_admin, created_at, disabled_at, password_hash IS NOT NULL AS has_password"


class UserStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, name: str, *, is_admin: bool) -> UserRow:
        """A user without a password; raises UserError for a name that is taken."""
        user_id = f"u-{secrets.token_hex(8)}"
        with self._database.connection() as connection, connection.transaction():
            added = connection.execute(
                "INSERT INTO users (id, name, is_admin, created_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
                [user_id, name, is_admin, now_text()],
            )
            if added.rowcount == 0:
                raise UserError(f"There is a user {name!r} already.")
        return self.named(name)

    def named(self, name: str) -> UserRow:
        found = self._rows("WHERE name = ?", name)
        if not found:
            raise NotFoundError(f"No user {name!r}. 'proctor users list' lists them.")
        return found[0]

    def get(self, user_id: str) -> UserRow | None:
        return next(iter(self._rows("WHERE id = ?", user_id)), None)

    def all(self) -> list[UserRow]:
        return self._rows("ORDER BY name")

    def password_hash(self, name: str) -> tuple[UserRow, str] | None:
        """The user who may sign in with a password, and its hash; None where there is none such."""
        query = f"SELECT {_USER}, password_hash FROM users WHERE name = ?"  # noqa: S608 - our own words
        with self._database.connection() as connection:
            row = connection.execute(query, [name]).fetchone()
        if row is None or row["password_hash"] is None or row["disabled_at"] is not None:
            return None
        return _user(row), row["password_hash"]

    def set_password(self, user_id: str, password_hash: str) -> None:
        """Every session and every token that was had by the one before is over."""
        with self._database.connection() as connection, connection.transaction():
            connection.execute("UPDATE users SET password_hash = ? WHERE id = ?", [password_hash, user_id])
            connection.execute("DELETE FROM sessions WHERE user_id = ?", [user_id])
            end_families_of(connection, user_id)

    def set_disabled(self, user_id: str, *, is_disabled: bool) -> None:
        """A disabled user has no session and no token any more, and his keys are revoked for good."""
        with self._database.connection() as connection, connection.transaction():
            connection.execute(
                "UPDATE users SET disabled_at = ? WHERE id = ?", [now_text() if is_disabled else None, user_id]
            )
            if is_disabled:
                connection.execute("DELETE FROM sessions WHERE user_id = ?", [user_id])
                connection.execute("DELETE FROM links WHERE user_id = ?", [user_id])
                connection.execute(
                    "UPDATE api_keys SET revoked_at = ? WHERE user_id = ? AND revoked_at IS NULL",
                    [time.time(), user_id],
                )
                end_families_of(connection, user_id)

    def _rows(self, which: str, *values: str) -> list[UserRow]:
        with self._database.connection() as connection:
            return [_user(row) for row in connection.execute(f"SELECT {_USER} FROM users {which}", values)]  # noqa: S608


class ProjectStore:
    """Projects and their members; the project `local` is there from the beginning."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, name: str) -> None:
        with self._database.connection() as connection, connection.transaction():
            if name == LOCAL or not _add_project(connection, name):
                raise UserError(f"There is a project {name!r} already.")

    def names(self) -> list[str]:
        with self._database.connection() as connection:
            found = {row[0] for row in connection.execute("SELECT name FROM projects")}
        return sorted(found | {LOCAL})

    def require(self, name: str) -> None:
        """Raises NotFoundError for a project that there is not."""
        if name not in self.names():
            raise NotFoundError(f"No project {name!r}. 'proctor projects list' lists them.")

    def set_role(self, project: str, user_id: str, role: Role | None) -> None:
        """Add a member, change his role, or remove him with None."""
        with self._database.connection() as connection, connection.transaction():
            _add_project(connection, project)
            connection.execute("DELETE FROM members WHERE project = ? AND user_id = ?", [project, user_id])
            if role is not None:
                connection.execute(
                    "INSERT INTO members (project, user_id, role, added_at) VALUES (?, ?, ?, ?)",
                    [project, user_id, role, now_text()],
                )

    def members(self, project: str) -> list[MemberRow]:
        return self._members("WHERE project = ? ORDER BY users.name", project)

    def memberships(self, user_id: str) -> list[MemberRow]:
        return self._members("WHERE user_id = ? ORDER BY project", user_id)

    def _members(self, which: str, value: str) -> list[MemberRow]:
        query = f"SELECT project, users.name, users.id, role FROM members JOIN users ON users.id = user_id {which}"  # noqa: S608
        with self._database.connection() as connection:
            return [MemberRow(row[0], row[1], row[2], Role(row[3])) for row in connection.execute(query, [value])]


def _add_project(connection: Connection, name: str) -> bool:
    """False where it was there."""
    query = "INSERT INTO projects (name, created_at) VALUES (?, ?) ON CONFLICT DO NOTHING"
    return connection.execute(query, [name, now_text()]).rowcount > 0


def _user(row: Row) -> UserRow:
    return UserRow(
        row["id"], row["name"], bool(row["is_admin"]), row["created_at"], row["disabled_at"], bool(row["has_password"])
    )
