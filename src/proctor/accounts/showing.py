"""Rows as they are shown: no hash of a password, a key or a session among them."""

from __future__ import annotations

import time
from datetime import UTC, datetime

from proctor.accounts.keys import NewKey
from proctor.accounts.people import Invitation
from proctor.domain.documents.accounts import (
    AuditEntry,
    AuditVerdict,
    CreatedKey,
    InvitedUser,
    ListedKey,
    ListedMember,
    ListedProject,
    ListedSession,
    ListedTokens,
    ListedUser,
)
from proctor.stores.accounts.audit import AuditRow, AuditStore
from proctor.stores.accounts.credentials import CredentialStore, KeyRow, SessionRow
from proctor.stores.accounts.token_families import TokenFamilyStore
from proctor.stores.accounts.users import ProjectStore, UserRow, UserStore
from proctor.stores.database import Database


def list_users(database: Database) -> list[ListedUser]:
    return [show_user(row) for row in UserStore(database).all()]


def show_user(row: UserRow) -> ListedUser:
    return ListedUser(row.name, row.is_admin, row.created_at, row.disabled_at, row.has_password)


def show_invitation(found: Invitation) -> InvitedUser:
    return InvitedUser(found.user.name, found.user.is_admin, found.path)


def list_projects(database: Database, names: list[str] | None = None) -> list[ListedProject]:
    """All of them, or those that are named."""
    store = ProjectStore(database)
    chosen = store.names() if names is None else names
    return [ListedProject(name, len(store.members(name))) for name in chosen]


def list_members(database: Database, project: str) -> list[ListedMember]:
    store = ProjectStore(database)
    store.require(project)
    return [ListedMember(row.user, row.role) for row in store.members(project)]


def list_keys(database: Database, project: str | None = None) -> list[ListedKey]:
    return [show_key(row) for row in CredentialStore(database).keys(project)]


def show_key(row: KeyRow) -> ListedKey:
    return ListedKey(
        row.id, row.name, row.project, row.scopes, _time(row.created_at) or "", _time(row.expires_at),
        _time(row.last_used_at), _time(row.revoked_at), row.is_valid(time.time()),
    )  # fmt: skip


def show_new_key(key: NewKey) -> CreatedKey:
    return CreatedKey(key.text, key.row.id, key.row.project, key.row.scopes, _time(key.row.expires_at))


def session_id(hashed: str) -> str:
    """Enough of the hash to name a session by, and of no use to whoever reads it."""
    return hashed[:16]


def show_session(row: SessionRow, own_hash: str) -> ListedSession:
    begun, seen = _time(row.created_at) or "", _time(row.seen_at) or ""
    return ListedSession(session_id(row.hash), begun, seen, row.address, row.agent, row.hash == own_hash)


def list_tokens(database: Database, user_id: str) -> list[ListedTokens]:
    """The families of tokens that a user has; never a token."""
    return [
        ListedTokens(
            row.id, row.project, row.scopes, _time(row.created_at) or "", _time(row.used_at) or "",
            _time(row.expires_at) or "", row.address, row.agent,
        )
        for row in TokenFamilyStore(database).of_user(user_id)
    ]  # fmt: skip


def show_audit(row: AuditRow) -> AuditEntry:
    return AuditEntry(*(getattr(row, name) for name in AuditRow.__struct_fields__))


def verify_audit(database: Database) -> AuditVerdict:
    """Compute the whole chain anew."""
    broken, rows, newest = AuditStore(database).first_broken()
    return AuditVerdict(rows, broken, newest)


def _time(seconds: float | None) -> str | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
