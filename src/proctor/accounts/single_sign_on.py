"""Sign-in through identity providers: which are configured, from where the browser is sent, and who came back."""

from __future__ import annotations

import base64
import hmac
import re
import time
from collections.abc import Mapping
from hashlib import sha256
from typing import Protocol

import msgspec
from msgspec import Struct

from proctor.accounts.back_channel import is_safe
from proctor.accounts.github import USUAL, GitHub
from proctor.accounts.oidc import NOT_PROVEN, OpenIdProvider, Person
from proctor.accounts.people import create_user
from proctor.accounts.sealing import Sealer, SealingError, require_secret
from proctor.accounts.sign_in import Session, begin_session
from proctor.accounts.tokens import new_token
from proctor.domain.errors import NotFoundError, SignInError, UserError
from proctor.stores.accounts.audit import AuditStore
from proctor.stores.accounts.identities import IdentityStore
from proctor.stores.accounts.users import UserRow, UserStore
from proctor.stores.database import Database

MINUTES = 10
OIDC, GITHUB = "oidc", "github"
BINDING = ("sign-in",)
NOBODY = "Nobody has invited you to this server: ask its administrator, and tell him your e-mail address."
_NEXT = re.compile(r"/(?![/\\])[^\\\x00-\x20\x7f]*")
"""A path of this server: no other host, in whatever way a browser would read it."""


class IdentityProvider(Protocol):
    issuer: str

    def address(self, redirect_uri: str, state: str, nonce: str, challenge: str) -> str: ...

    def identify(self, query: Mapping[str, str], redirect_uri: str, nonce: str, verifier: str) -> Person: ...


class ForeignNextError(UserError):
    """What comes after signing in would be elsewhere."""

    http_status = 400


class SignInWay(Struct, frozen=True):
    name: str
    label: str
    provider: IdentityProvider


class SignInAttempt(Struct, frozen=True):
    """What the browser keeps, sealed, until it comes back."""

    way: str
    state: str
    nonce: str
    verifier: str
    next: str
    until: float


def read_ways(environment: Mapping[str, str]) -> dict[str, SignInWay]:
    """The identity providers that the environment names; raises UserError for one that is named by half."""
    found = {}
    if issuer := environment.get("PROCTOR_OIDC_ISSUER"):
        client_id, secret = _credentials(environment, "PROCTOR_OIDC")
        label = environment.get("PROCTOR_OIDC_NAME") or "Single sign-on"
        found[OIDC] = SignInWay(OIDC, label, OpenIdProvider(_checked(issuer, "PROCTOR_OIDC_ISSUER"), client_id, secret))
    if environment.get("PROCTOR_GITHUB_CLIENT_ID"):
        client_id, secret = _credentials(environment, "PROCTOR_GITHUB")
        url = _checked(environment.get("PROCTOR_GITHUB_URL") or USUAL, "PROCTOR_GITHUB_URL")
        found[GITHUB] = SignInWay(GITHUB, "GitHub", GitHub(url, client_id, secret))
    if found:
        require_secret(environment, "Signing in through an identity provider")
    return found


def begin_attempt(
    ways: Mapping[str, SignInWay], environment: Mapping[str, str], name: str, next_path: str, redirect_uri: str
) -> tuple[str, str]:
    """Where to send the browser, and what it is to keep."""
    way = require_way(ways, name)
    if len(next_path) > 2_000 or _NEXT.fullmatch(next_path) is None:
        raise ForeignNextError("next is a path of this server, such as /runs.")
    attempt = SignInAttempt(name, new_token(), new_token(), new_token(), next_path, time.time() + MINUTES * 60)
    challenge = base64.urlsafe_b64encode(sha256(attempt.verifier.encode()).digest()).rstrip(b"=").decode()
    address = way.provider.address(redirect_uri, attempt.state, attempt.nonce, challenge)
    sealer = Sealer(require_secret(environment, "Signing in through an identity provider"))
    return address, sealer.seal(msgspec.json.encode(attempt).decode(), BINDING)


def finish_attempt(
    database: Database,
    ways: Mapping[str, SignInWay],
    environment: Mapping[str, str],
    name: str,
    kept: str,
    query: Mapping[str, str],
    redirect_uri: str,
    address: str,
    agent: str,
) -> tuple[Session, str]:
    """The session of whoever came back to where he began, and where he goes next; raises SignInError otherwise."""
    way = require_way(ways, name)
    attempt = _opened(environment, kept)
    if (
        attempt is None
        or attempt.way != name
        or attempt.until < time.time()
        or not hmac.compare_digest(attempt.state.encode(), query.get("state", "").encode("utf-8", "replace"))
        or not query.get("code")
    ):
        AuditStore(database).add("unknown", "sign-in", of=name, address=address, outcome="refused")
        raise SignInError(NOT_PROVEN)
    person = way.provider.identify(query, redirect_uri, attempt.nonce, attempt.verifier)
    user = _user_of(database, environment, person, address)
    return begin_session(database, user, address, agent), attempt.next


def require_way(ways: Mapping[str, SignInWay], name: str) -> SignInWay:
    if name not in ways:
        raise NotFoundError(f"No way to sign in called {name!r}.")
    return ways[name]


def _user_of(database: Database, environment: Mapping[str, str], person: Person, address: str) -> UserRow:
    """By what the provider calls him; the first time by his verified address, which is his name here."""
    identities, users = IdentityStore(database), UserStore(database)
    known = identities.user(person.issuer, person.subject)
    if known is not None:
        return known
    email = (person.email or "").lower()
    found = next((one for one in users.all() if email and one.name.lower() == email), None)
    if found is None and email and email.rpartition("@")[2] in _domains(environment):
        found = create_user(database, email, by=person.issuer, address=address)
    if found is None or identities.is_linked(person.issuer, found.id):
        AuditStore(database).add(email or "unknown", "sign-in", of=person.issuer, address=address, outcome="refused")
        raise SignInError(NOBODY)
    identities.link(person.issuer, person.subject, found.id)
    AuditStore(database).add(found.name, "link-identity", of=person.issuer, address=address)
    return found


def _domains(environment: Mapping[str, str]) -> set[str]:
    """Whoever has a verified address there becomes a user by signing in; a member of no project yet."""
    listed = environment.get("PROCTOR_SIGN_UP_DOMAINS", "")
    return {one.strip().lower().removeprefix("@") for one in listed.split(",")} - {""}


def _opened(environment: Mapping[str, str], kept: str) -> SignInAttempt | None:
    sealer = Sealer(require_secret(environment, "Signing in through an identity provider"))
    try:
        return msgspec.json.decode(sealer.open(kept, BINDING), type=SignInAttempt)
    except (SealingError, msgspec.MsgspecError):
        return None


def _credentials(environment: Mapping[str, str], prefix: str) -> tuple[str, str]:
    found = [environment.get(f"{prefix}_{name}", "") for name in ("CLIENT_ID", "CLIENT_SECRET")]
    if not all(found):
        raise UserError(f"{prefix}_CLIENT_ID and {prefix}_CLIENT_SECRET (or {prefix}_CLIENT_SECRET_FILE) are needed.")
    return found[0], found[1]


def _checked(url: str, variable: str) -> str:
    if not is_safe(url):
        raise UserError(f"{variable} is an address such as https://accounts.example, with TLS, not {url!r}.")
    return url
