"""Access tokens for minutes, and refresh tokens that are good once: for programs that people sign in with."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping, Sequence

from msgspec import Struct

from proctor.accounts.sealing import ServerSecret, require_secret
from proctor.accounts.sign_in import permissions_of
from proctor.accounts.tokens import hash_token, new_token
from proctor.domain.documents.accounts import IssuedTokens
from proctor.domain.errors import SignInError, UserError, did_you_mean
from proctor.domain.role import KEY_SCOPES
from proctor.stores.accounts.audit import AuditStore
from proctor.stores.accounts.token_families import TokenFamilyRow, TokenFamilyStore
from proctor.stores.accounts.users import UserRow, UserStore
from proctor.stores.database import Database

ACCESS_SECONDS = 600
REFRESH_SECONDS = 30 * 86_400
ALGORITHM, KIND = "HS256", "at+jwt"
"""The only ones that are made and taken, whatever a token says of itself."""
ISSUER = AUDIENCE = "proctor"
MAX_TOKEN = 4_000
NOT_VALID = "This token is not valid any more, or never was. Sign in again."


class TokenHolder(Struct, frozen=True):
    """Who sent an access token."""

    user: UserRow
    project: str
    permissions: frozenset[str]


def issue_tokens(
    database: Database,
    environment: Mapping[str, str],
    user: UserRow,
    project: str,
    scopes: Sequence[str],
    address: str,
    agent: str,
) -> IssuedTokens:
    """Begin a family for a user who has proved who he is; its tokens can do no more than he can."""
    secret = require_secret(environment, "Making access tokens")
    for scope in scopes:
        if scope not in KEY_SCOPES:
            hint = did_you_mean(scope, KEY_SCOPES)
            raise UserError(f"There is no scope {scope!r}.{hint} There are: {', '.join(KEY_SCOPES)}.")
    granted = permissions_of(database, user, project)
    wanted = tuple(sorted(set(scopes) or granted))
    now, refresh = time.time(), new_token()
    family = TokenFamilyRow(
        f"t-{secrets.token_hex(8)}", user.id, project, wanted, now, now, now + REFRESH_SECONDS, address, agent
    )
    TokenFamilyStore(database).begin(family, hash_token(refresh))
    AuditStore(database).add(user.name, "issue-tokens", of=family.id, project=project, address=address)
    return _issued(secret, family, refresh)


def refresh_tokens(database: Database, environment: Mapping[str, str], token: str, address: str) -> IssuedTokens:
    """The next two for a refresh token; one that was used before ends its family: somebody else has it."""
    secret, refresh = require_secret(environment, "Making access tokens"), new_token()
    family, was_used = TokenFamilyStore(database).exchange(hash_token(token), hash_token(refresh))
    if was_used:
        AuditStore(database).add("unknown", "reuse-token", address=address, outcome="refused")
    if family is None:
        raise SignInError(NOT_VALID)
    user = UserStore(database).get(family.user_id)
    if user is None or user.disabled_at is not None:
        raise SignInError(NOT_VALID)
    return _issued(secret, family, refresh)


def find_holder(database: Database, environment: Mapping[str, str], token: str) -> TokenHolder | None:
    """Whose access token it is, where it is ours, not expired, and its family and its user are still there."""
    secret = ServerSecret.read(environment)
    claims = None if secret is None or len(token) > MAX_TOKEN else _claims(secret, token)
    family = None if claims is None else TokenFamilyStore(database).get(str(claims.get("family")))
    if claims is None or family is None or claims.get("sub") != family.user_id:
        return None
    user = UserStore(database).get(family.user_id)
    if user is None or user.disabled_at is not None:
        return None
    permissions = frozenset(family.scopes) & permissions_of(database, user, family.project)
    return TokenHolder(user, family.project, permissions)


def end_tokens(database: Database, user: UserRow, token_id: str, *, by: str, address: str) -> bool:
    """No request that comes later is let through with any token of the family; False where he has none such."""
    if not TokenFamilyStore(database).end(token_id, user.id):
        return False
    AuditStore(database).add(by, "end-tokens", of=token_id, address=address)
    return True


def _issued(secret: ServerSecret, family: TokenFamilyRow, refresh: str) -> IssuedTokens:
    from joserfc import jwt
    from joserfc.jwk import OctKey

    now = int(time.time())
    claims = {
        "iss": ISSUER, "aud": AUDIENCE, "sub": family.user_id, "family": family.id,
        "iat": now, "exp": now + ACCESS_SECONDS, "jti": secrets.token_hex(8),
    }  # fmt: skip
    key = OctKey.import_key(secret.keys("tokens")[0])
    access = jwt.encode({"alg": ALGORITHM, "typ": KIND}, claims, key, algorithms=[ALGORITHM])
    left = max(0, int(family.expires_at - now))
    return IssuedTokens(access, ACCESS_SECONDS, refresh, left, family.project, family.scopes, "Bearer")


def _claims(secret: ServerSecret, token: str) -> Mapping[str, object] | None:
    from joserfc import jwt
    from joserfc.errors import JoseError
    from joserfc.jwk import OctKey

    registry = jwt.JWTClaimsRegistry(
        iss={"essential": True, "value": ISSUER}, aud={"essential": True, "value": AUDIENCE},
        exp={"essential": True}, iat={"essential": True}, sub={"essential": True},
    )  # fmt: skip
    for key in secret.keys("tokens"):
        try:
            found = jwt.decode(token, OctKey.import_key(key), algorithms=[ALGORITHM])
            registry.validate(found.claims)
        except (JoseError, ValueError, TypeError):
            continue
        if found.header.get("typ") == KIND:
            return found.claims
    return None
