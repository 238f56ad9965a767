"""What is shown of users, projects, keys, sessions and the audit log; never a password's or a key's hash."""

from __future__ import annotations

from collections.abc import Sequence

from proctor.domain.documents.document import Document


class ListedUser(Document, frozen=True):
    name: str
    is_admin: bool
    created_at: str
    disabled_at: str | None
    has_password: bool
    """Whether the one-time link was used."""


class InvitedUser(Document, frozen=True):
    name: str
    is_admin: bool
    link: str
    """Shown once, good once and for three days: the address of the server comes before it."""


class ListedProject(Document, frozen=True):
    name: str
    members: int


class ListedMember(Document, frozen=True):
    user: str
    role: str


class ListedKey(Document, frozen=True):
    key_id: str
    name: str
    project: str
    scopes: Sequence[str]
    created_at: str
    expires_at: str | None
    last_used_at: str | None
    revoked_at: str | None
    is_valid: bool


class CreatedKey(Document, frozen=True):
    key: str
    """Shown once."""
    key_id: str
    project: str
    scopes: Sequence[str]
    expires_at: str | None


class SignedIn(Document, frozen=True):
    """Who calls, and what he may do where he is now."""

    user: str
    is_admin: bool
    project: str
    projects: Sequence[str]
    permissions: Sequence[str]
    csrf_token: str
    """To be sent as X-CSRF-Token with every change; empty where there is no session."""


class ListedSession(Document, frozen=True):
    session_id: str
    begun_at: str
    seen_at: str
    address: str
    agent: str
    is_this: bool


class IssuedTokens(Document, frozen=True):
    """Shown once."""

    access_token: str
    """Sent as `Authorization: Bearer …`, until it expires."""
    expires_in: int
    """Seconds."""
    refresh_token: str
    """Good once: it is exchanged for the next two."""
    refresh_expires_in: int
    project: str
    scopes: Sequence[str]
    token_type: str
    """Always Bearer."""


class ListedTokens(Document, frozen=True):
    """An access token and the refresh tokens that follow each other."""

    token_id: str
    project: str
    scopes: Sequence[str]
    begun_at: str
    used_at: str
    expires_at: str
    address: str
    agent: str


class ListedWay(Document, frozen=True):
    """An identity provider through which people sign in."""

    name: str
    label: str
    path: str
    """Where the browser goes to begin; `?next=/runs` says where it ends."""


class AuditEntry(Document, frozen=True):
    number: int
    at: str
    who: str
    what: str
    object: str
    project: str
    address: str
    outcome: str
    before: str
    hash: str


class AuditPage(Document, frozen=True):
    items: Sequence[AuditEntry]
    next: str | None


class AuditVerdict(Document, frozen=True):
    rows: int
    first_broken: int | None
    newest_hash: str
