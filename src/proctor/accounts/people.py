"""Users: invited by a link that works once, disabled at once."""

from __future__ import annotations

import re

from msgspec import Struct

from proctor.accounts.guessing import GuessLimit
from proctor.accounts.passwords import hash_password
from proctor.accounts.tokens import hash_token, new_token
from proctor.domain.errors import SignInError, UserError
from proctor.stores.accounts.audit import AuditStore
from proctor.stores.accounts.credentials import CredentialStore
from proctor.stores.accounts.users import UserRow, UserStore
from proctor.stores.database import Database

LINK_SECONDS = 3 * 86_400.0
LINK = "one-time link"
"""What failures with links are counted under: no user can be called so."""
NO_LINK = "This link does not exist, was used already, or is too old. Ask for another."
WELCOME = "/welcome#"
"""Behind the # so that it is in no log of a server or a proxy."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,99}")


class Invitation(Struct, frozen=True):
    user: UserRow
    token: str
    """Shown once; who has it sets the password."""

    @property
    def path(self) -> str:
        return f"{WELCOME}{self.token}"


def add_user(database: Database, name: str, *, is_admin: bool, by: str, address: str = "") -> Invitation:
    """A new user and the link by which he sets his password."""
    user = create_user(database, name, is_admin=is_admin, by=by, address=address)
    return invite(database, user, by=by, address=address)


def create_user(database: Database, name: str, *, is_admin: bool = False, by: str, address: str = "") -> UserRow:
    """A new user who has no password and no link; raises UserError for a name that none can have."""
    if not _NAME.fullmatch(name):
        raise UserError("A user's name is 1 to 100 letters, digits and . _ @ + -, a letter or digit first.")
    user = UserStore(database).add(name, is_admin=is_admin)
    AuditStore(database).add(by, "add-admin" if is_admin else "add-user", of=name, address=address)
    return user


def invite(database: Database, user: UserRow, *, by: str, address: str = "") -> Invitation:
    """A link by which the user sets a new password; earlier ones no longer work."""
    token = new_token()
    CredentialStore(database).add_link(hash_token(token), user.id, LINK_SECONDS)
    AuditStore(database).add(by, "make-link", of=user.name, address=address)
    return Invitation(user, token)


def invite_first_admin(database: Database) -> Invitation | None:
    """The link for the first administrator; None once somebody can sign in."""
    users = UserStore(database)
    if any(user.is_admin and user.has_password and user.disabled_at is None for user in users.all()):
        return None
    waiting = [user for user in users.all() if user.is_admin and user.disabled_at is None]
    if waiting:
        return invite(database, waiting[0], by="first start")
    return add_user(database, "admin", is_admin=True, by="first start")


def set_password(
    database: Database, token: str, password: str, address: str = "", guesses: GuessLimit | None = None
) -> UserRow:
    """Use a link; every session of the user is over."""
    guesses = guesses or GuessLimit()
    guesses.check(LINK, address)
    store, hashed_token = CredentialStore(database), hash_token(token)
    # Nobody without a link gets a password hashed: it takes one of few places that signing in needs too.
    if not store.is_link(hashed_token):
        guesses.failed(LINK, address)
        AuditStore(database).add("unknown", "use-link", address=address, outcome="refused")
        raise SignInError(NO_LINK)
    # What cannot be a password is said before the link is used up.
    hashed = hash_password(password)
    user = store.use_link(hashed_token)
    if user is None:
        raise SignInError(NO_LINK)
    UserStore(database).set_password(user.id, hashed)
    AuditStore(database).add(user.name, "set-password", of=user.name, address=address)
    return user


def set_disabled(database: Database, name: str, *, is_disabled: bool, by: str, address: str = "") -> UserRow:
    """A disabled user's sessions and keys end at once. The last administrator stays."""
    users = UserStore(database)
    user = users.named(name)
    others = [one for one in users.all() if one.is_admin and one.disabled_at is None and one.id != user.id]
    if is_disabled and user.is_admin and not others:
        raise UserError(f"{name} is the only administrator: make another one first.")
    users.set_disabled(user.id, is_disabled=is_disabled)
    AuditStore(database).add(by, "disable-user" if is_disabled else "enable-user", of=name, address=address)
    return users.named(name)
