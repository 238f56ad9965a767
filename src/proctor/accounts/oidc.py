"""OpenID Connect with an authorization code: PKCE, state and nonce; issuer, audience and algorithm are checked."""

from __future__ import annotations

import time
from collections.abc import Mapping
from threading import Lock
from typing import Any
from urllib.parse import urlencode

from msgspec import Struct

from proctor.accounts.back_channel import IdentityProviderError, ask_json, is_safe
from proctor.domain.errors import SignInError

ALGORITHMS = ("RS256", "PS256", "ES256", "EdDSA")
"""With a key of the provider's that only it has; none by which a public key could be taken for a secret."""
KEPT_SECONDS = 3_600.0
AGAIN_SECONDS = 30.0
"""A key that is not known is asked for again, not more often than so."""
LEEWAY_SECONDS = 60
NOT_PROVEN = "The identity provider did not prove who you are. Begin again."


class Person(Struct, frozen=True):
    """Who somebody is elsewhere."""

    issuer: str
    subject: str
    email: str | None
    """Only where the provider says that it is verified."""


class OpenIdProvider:
    """One issuer, whose addresses and keys it finds by itself."""

    def __init__(self, issuer: str, client_id: str, client_secret: str) -> None:
        self.issuer, self._client_id, self._client_secret = issuer.rstrip("/"), client_id, client_secret
        self._lock = Lock()
        self._found: dict[str, tuple[float, Any]] = {}

    def address(self, redirect_uri: str, state: str, nonce: str, challenge: str) -> str:
        """Where the browser is sent."""
        asked = {
            "response_type": "code", "client_id": self._client_id, "redirect_uri": redirect_uri,
            "scope": "openid email", "state": state, "nonce": nonce,
            "code_challenge": challenge, "code_challenge_method": "S256",
        }  # fmt: skip
        return f"{self._place('authorization_endpoint')}?{urlencode(asked)}"

    def identify(self, query: Mapping[str, str], redirect_uri: str, nonce: str, verifier: str) -> Person:
        """Who came back; raises SignInError for whatever is not proven."""
        if query.get("iss", self.issuer).rstrip("/") != self.issuer:
            raise SignInError(NOT_PROVEN)  # the answer of another provider (RFC 9207)
        answer = ask_json(
            self._place("token_endpoint"),
            {
                "grant_type": "authorization_code", "code": query.get("code", ""), "redirect_uri": redirect_uri,
                "client_id": self._client_id, "client_secret": self._client_secret, "code_verifier": verifier,
            },
        )  # fmt: skip
        claims = self._claims(str(answer.get("id_token", "")), nonce)
        subject = str(claims["sub"])
        if "email" not in claims and self._configuration().get("userinfo_endpoint"):
            sent = {"Authorization": f"Bearer {answer.get('access_token', '')}"}
            more = ask_json(self._place("userinfo_endpoint"), headers=sent)
            claims = more if more.get("sub") == subject else {}
        email = claims.get("email") if claims.get("email_verified") is True else None
        return Person(self.issuer, subject, email if isinstance(email, str) else None)

    def _claims(self, token: str, nonce: str) -> Mapping[str, Any]:
        from joserfc import jwt
        from joserfc.errors import JoseError
        from joserfc.jwk import KeySet

        registry = jwt.JWTClaimsRegistry(
            leeway=LEEWAY_SECONDS,
            iss={"essential": True, "value": self._configuration()["issuer"]},
            aud={"essential": True, "value": self._client_id},
            sub={"essential": True},
            exp={"essential": True},
            iat={"essential": True},
            nonce={"essential": True, "value": nonce},
        )
        for is_again in (False, True):
            try:
                keys = KeySet.import_key_set(self._keys(is_again=is_again))
                found = jwt.decode(token, keys, algorithms=list(ALGORITHMS))
                registry.validate(found.claims)
            except (JoseError, ValueError, TypeError, KeyError):
                continue
            if found.claims.get("azp", self._client_id) != self._client_id:
                break
            return found.claims
        raise SignInError(NOT_PROVEN)

    def _place(self, name: str) -> str:
        found = str(self._configuration().get(name, ""))
        if not is_safe(found):
            raise IdentityProviderError(f"{self.issuer} names no {name} over TLS.")
        return found

    def _configuration(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self._kept(f"{self.issuer}/.well-known/openid-configuration", KEPT_SECONDS)
        if str(found.get("issuer", "")).rstrip("/") != self.issuer:
            raise IdentityProviderError(f"{self.issuer} says that it is another issuer.")
        return found

    def _keys(self, *, is_again: bool) -> Any:
        return self._kept(self._place("jwks_uri"), AGAIN_SECONDS if is_again else KEPT_SECONDS)

    def _kept(self, url: str, seconds: float) -> Any:
        with self._lock:
            moment, content = self._found.get(url, (0.0, None))
        if content is None or time.monotonic() - moment > seconds:
            content = ask_json(url)
            with self._lock:
                self._found[url] = (time.monotonic(), content)
        return content
