"""API keys: shown once, with scopes, for one project."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from proctor.accounts.tokens import hash_token, new_token
from proctor.domain.errors import NotFoundError, UserError, did_you_mean
from proctor.domain.role import KEY_SCOPES
from proctor.stores.accounts.audit import AuditStore
from proctor.stores.accounts.budgets import BudgetStore, Spender
from proctor.stores.accounts.credentials import CredentialStore, KeyRow
from proctor.stores.accounts.users import ProjectStore
from proctor.stores.database import Database

ALPHABET = "abcdefghjkmnpqrstvwxyz0123456789"
_SPAN = re.compile(r"(\d{1,5})([hdw])")
_SECONDS = {"h": 3_600.0, "d": 86_400.0, "w": 7 * 86_400.0}


class NewKey(Struct, frozen=True):
    row: KeyRow
    text: str
    """The whole key; it is nowhere else."""


def create_key(
    database: Database,
    project: str,
    scopes: Sequence[str],
    *,
    name: str = "",
    seconds: float | None = None,
    user_id: str | None = None,
    by: str,
    address: str = "",
) -> NewKey:
    """Make a key; raises UserError for a scope or a project that there is not."""
    ProjectStore(database).require(project)
    if not scopes:
        raise UserError(f"A key needs at least one scope: {', '.join(KEY_SCOPES)}.")
    for scope in scopes:
        if scope not in KEY_SCOPES:
            raise UserError(
                f"There is no scope {scope!r}.{did_you_mean(scope, KEY_SCOPES)} There are: {', '.join(KEY_SCOPES)}."
            )
    key_id, secret, now = "".join(secrets.choice(ALPHABET) for _ in range(12)), new_token(), time.time()
    kept = tuple(sorted(set(scopes)))
    until = None if seconds is None else now + seconds
    row = KeyRow(key_id, hash_token(secret), name[:100], project, user_id, kept, now, until, None, None)
    CredentialStore(database).add_key(row)
    AuditStore(database).add(by, "create-key", of=key_id, project=project, address=address)
    return NewKey(row, f"pk_{key_id}_{secret}")


def obstacle_to_making(database: Database, maker_id: str, seconds: float | None) -> str | None:
    """Why this key may not make one that is good for so long; None where it may.

    What a key made would outlive it, and would not be held to its budget.
    """
    maker = CredentialStore(database).key(maker_id)
    if any(one.kind == "key" for one in BudgetStore(database).of(Spender("", None, maker_id))):
        return f"The key {maker_id} has a budget, and a key that it made would have none: sign in to make one."
    until = None if maker is None else maker.expires_at
    if until is not None and (seconds is None or time.time() + seconds > until):
        return f"The key {maker_id} expires, and a key that it makes must not outlive it: give an earlier `expires`."
    return None


def revoke_key(database: Database, key_id: str, *, project: str | None = None, by: str, address: str = "") -> KeyRow:
    """No request that comes later is let through with it."""
    row = CredentialStore(database).revoke_key(key_id, project)
    AuditStore(database).add(by, "revoke-key", of=key_id, project=row.project, address=address)
    return replace(row, revoked_at=row.revoked_at or time.time())


def rotate_key(database: Database, key_id: str, *, by: str) -> NewKey:
    """Another key that may do the same until the same time, within the same budget; the old one is revoked."""
    old, now = CredentialStore(database).key(key_id), time.time()
    if old is None or not old.is_valid(now):
        raise NotFoundError(f"No valid key {key_id!r}. 'proctor keys list' lists them.")
    left = None if old.expires_at is None else old.expires_at - now
    new = create_key(
        database, old.project, old.scopes, name=old.name, seconds=left, user_id=old.user_id, by=by
    )  # fmt: skip
    revoke_key(database, key_id, by=by)
    BudgetStore(database).move_key(key_id, new.row.id)
    return new


def span_seconds(text: str) -> float:
    """The seconds of a span such as 12h, 30d or 8w."""
    found = _SPAN.fullmatch(text)
    if not found or int(found[1]) == 0:
        raise UserError(f"{text!r} is no span of time: 12h, 30d or 8w.")
    return int(found[1]) * _SECONDS[found[2]]
