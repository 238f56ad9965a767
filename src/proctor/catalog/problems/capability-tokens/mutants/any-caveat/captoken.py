"""Tokens that say what their holder may do, and can only ever be narrowed."""

import hashlib
import hmac
from collections.abc import Iterable, Mapping, Sequence

from caveats import Context, Malformed, check_caveat, holds
from wire import Claims, check_name, decode, encode

__all__ = ["Authority", "Denied", "Malformed", "attenuate", "inspect"]
SHORTEST_SECRET = 16
MOST_CAVEATS = 32


class Denied(PermissionError):
    """A token that does not allow what is asked, for whatever reason."""


def _signed(key: bytes, text: str) -> bytes:
    return hmac.digest(key, text.encode(), hashlib.sha256)


def _chain(secret: bytes, claims: Claims) -> list[bytes]:
    """Give the signatures of a token and of all it was made from, the widest first."""
    chain = [_signed(secret, f"{claims.key}\n{claims.subject}")]
    for caveat in claims.caveats:
        chain.append(_signed(chain[-1], caveat))
    return chain


def _checked(caveats: Iterable[str]) -> tuple[str, ...]:
    found = tuple(caveats)
    if len(found) > MOST_CAVEATS:
        raise Malformed(f"at most {MOST_CAVEATS} caveats")
    for caveat in found:
        check_caveat(caveat)
    return found


def _parsed(token: str) -> tuple[Claims, bytes]:
    claims, signature = decode(token)
    _checked(claims.caveats)
    return claims, signature


def attenuate(token: str, caveat: str) -> str:
    """Narrow a token; raises Malformed."""
    claims, signature = _parsed(token)
    caveats = _checked([*claims.caveats, caveat])
    return encode(
        Claims(claims.key, claims.subject, caveats), _signed(signature, caveat)
    )


def inspect(token: str) -> dict[str, str | list[str]]:
    """Give what a token says, whether it is genuine or not; raises Malformed."""
    claims, _ = _parsed(token)
    return {
        "key": claims.key,
        "subject": claims.subject,
        "caveats": list(claims.caveats),
    }


class Authority:
    """Makes tokens and decides what they allow."""

    def __init__(self, keys: Mapping[str, bytes]) -> None:
        """Take secrets by name; raises Malformed."""
        for name, secret in keys.items():
            check_name(name)
            if len(secret) < SHORTEST_SECRET:
                raise Malformed(f"a secret has at least {SHORTEST_SECRET} bytes")
        self._keys = dict(keys)
        self._revoked: set[bytes] = set()

    def mint(self, key: str, subject: str, caveats: Sequence[str] = ()) -> str:
        """Make a token; raises Malformed."""
        secret = self._keys.get(key)
        if secret is None:
            raise Malformed("there is no such key")
        claims = Claims(key, check_name(subject), _checked(caveats))
        return encode(claims, _chain(secret, claims)[-1])

    def verify(self, token: str, context: Context) -> str:
        """Give the subject of a token that allows this; raises Denied."""
        try:
            claims, signature = _parsed(token)
        except Malformed as error:
            raise Denied(str(error)) from None
        secret = self._keys.get(claims.key)
        chain = _chain(secret if secret is not None else bytes(SHORTEST_SECRET), claims)
        is_genuine = hmac.compare_digest(chain[-1], signature)
        if secret is None or not is_genuine:
            raise Denied("the token is not genuine")
        if not self._revoked.isdisjoint(chain):
            raise Denied("the token was revoked")
        if claims.caveats and not any(holds(caveat, context) for caveat in claims.caveats):
            raise Denied("not allowed")
        return claims.subject

    def revoke(self, token: str) -> None:
        """Deny a token and all that are made from it; raises Malformed."""
        _, signature = _parsed(token)
        self._revoked.add(signature)

    def retire(self, key: str) -> None:
        """Deny all tokens of a key."""
        self._keys.pop(key, None)
