"""Who users are elsewhere: the subject that an identity provider calls them by, which never changes."""

from __future__ import annotations

from proctor.stores.accounts.users import UserRow, UserStore
from proctor.stores.database import Database
from proctor.stores.moments import now_text


class IdentityStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    def user(self, issuer: str, subject: str) -> UserRow | None:
        with self._database.connection() as connection:
            query = "SELECT user_id FROM identities WHERE issuer = ? AND subject = ?"
            row = connection.execute(query, [issuer, subject]).fetchone()
        return None if row is None else UserStore(self._database).get(row[0])

    def is_linked(self, issuer: str, user_id: str) -> bool:
        """Whether the user is somebody at this issuer already."""
        with self._database.connection() as connection:
            query = "SELECT 1 FROM identities WHERE issuer = ? AND user_id = ?"
            return connection.execute(query, [issuer, user_id]).fetchone() is not None

    def link(self, issuer: str, subject: str, user_id: str) -> None:
        """Of two who come at once, the first stays."""
        with self._database.connection() as connection:
            connection.execute(
                "INSERT INTO identities (issuer, subject, user_id, created_at) VALUES (?, ?, ?, ?) "
                "ON CONFLICT DO NOTHING",
                [issuer, subject, user_id, now_text()],
            )
