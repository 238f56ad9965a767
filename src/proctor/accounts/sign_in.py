"""The one way in: a name and a password become a session, a cookie or a key becomes who it is."""

from __future__ import annotations

import secrets
import time

from msgspec import Struct

from proctor.accounts.guessing import GuessLimit
from proctor.accounts.passwords import is_password
from proctor.accounts.tokens import csrf_token, hash_token, new_token
from proctor.domain.errors import SignInError
from proctor.domain.role import KEY_SCOPES, PERMISSIONS
from proctor.stores.accounts.audit import AuditStore
from proctor.stores.accounts.credentials import CredentialStore, KeyRow
from proctor.stores.accounts.users import ProjectStore, UserRow, UserStore
from proctor.stores.database import Database

SESSION_SECONDS = 14 * 86_400.0
REFUSED = "The name or the password is not right."


class Session(Struct, frozen=True):
    user: UserRow
    token: str
    """The cookie's; nobody else sees it."""

    @property
    def csrf(self) -> str:
        return csrf_token(self.token)


def sign_in(database: Database, guesses: GuessLimit, name: str, password: str, address: str, agent: str) -> Session:
    """Begin a session; every refusal says the same and costs the same."""
    guesses.check(name, address)
    found = UserStore(database).password_hash(name)
    if not is_password(password, None if found is None else found[1]) or found is None:
        guesses.failed(name, address)
        AuditStore(database).add(name, "sign-in", address=address, outcome="refused")
        raise SignInError(REFUSED)
    guesses.succeeded(name, address)
    return begin_session(database, found[0], address, agent)


def begin_session(database: Database, user: UserRow, address: str, agent: str) -> Session:
    """Every session begins here, however the user has proved who he is; a disabled one gets none."""
    if user.disabled_at is not None:
        raise SignInError(REFUSED)
    session = Session(user, new_token())
    CredentialStore(database).begin_session(hash_token(session.token), user.id, SESSION_SECONDS, address, agent)
    AuditStore(database).add(user.name, "sign-in", address=address)
    return session


def find_session(database: Database, token: str) -> Session | None:
    """The session of a cookie, where it is not over."""
    found = CredentialStore(database).session(hash_token(token))
    return None if found is None else Session(found.user, token)


def find_key(database: Database, text: str) -> KeyRow | None:
    """The key, where it is valid and who made it may still sign in."""
    kind, _, rest = text.partition("_")
    key_id, _, secret = rest.partition("_")
    store = CredentialStore(database)
    key = store.key(key_id) if kind == "pk" else None
    # The comparison is made in any case: how long an answer takes says nothing of which ids there are.
    is_right = secrets.compare_digest(hash_token(secret), "" if key is None else key.hash)
    if key is None or not is_right or not key.is_valid(time.time()):
        return None
    if key.user_id is not None:
        user = UserStore(database).get(key.user_id)
        if user is None or user.disabled_at is not None:
            return None
    store.note_use(key)
    return key


def permissions_of(database: Database, user: UserRow, project: str) -> frozenset[str]:
    """What the user may do in the project; nothing where he is no member of it."""
    if user.is_admin:
        return frozenset(KEY_SCOPES)
    roles = {row.project: row.role for row in ProjectStore(database).memberships(user.id)}
    return PERMISSIONS[roles[project]] if project in roles else frozenset()


def permissions_of_key(database: Database, key: KeyRow) -> frozenset[str]:
    """Its scopes, as far as who made it still has them."""
    scopes = frozenset(key.scopes)
    if key.user_id is None:
        return scopes
    user = UserStore(database).get(key.user_id)
    return scopes & permissions_of(database, user, key.project) if user is not None else frozenset()


def projects_of(database: Database, user: UserRow) -> list[str]:
    """Those that the user can choose."""
    store = ProjectStore(database)
    return store.names() if user.is_admin else [row.project for row in store.memberships(user.id)]
