"""Seals what must be kept and given back: keys of providers, secrets of webhooks. A hash is enough for all else.

The server's secret (PROCTOR_SECRET) is one or more texts with commas or spaces between them: the first seals, the
others only open what was sealed before, until `proctor keys rotate` has sealed it anew. What is sealed is bound to
what it belongs to: a row that somebody copies to another project opens nothing.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import orjson

from proctor.domain.errors import UserError

if TYPE_CHECKING:
    from cryptography.fernet import MultiFernet

SECRET = "PROCTOR_SECRET"  # noqa: S105 - the name of a variable
MIN_LENGTH, MIN_CHARACTERS = 32, 10
HOW = "'openssl rand -base64 36' makes one."
_DEFAULTS = re.compile(
    r"change.?me|change.?this|default|example|password|replace.?me|your.?secret|insecure", re.IGNORECASE
)
_BETWEEN = re.compile(r"[,\s]+")


class SealingError(UserError):
    """What is sealed cannot be opened here."""


class ServerSecret:
    """The server's secret, of which only keys for one purpose each are ever used; printing it shows nothing."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = tuple(texts)

    @classmethod
    def read(cls, environment: Mapping[str, str]) -> ServerSecret | None:
        """The environment's; None where there is none. Raises UserError for one that can be guessed."""
        texts = [text for text in _BETWEEN.split(environment.get(SECRET, "")) if text]
        for text in texts:
            if len(text) < MIN_LENGTH or len(set(text)) < MIN_CHARACTERS or _DEFAULTS.search(text):
                raise UserError(
                    f"{SECRET} can be guessed: it takes {MIN_LENGTH} random characters or more, and no words. {HOW}"
                )
        return cls(texts) if texts else None

    def keys(self, purpose: str) -> list[bytes]:
        """32 bytes of each text, the current one's first, of no use for any other purpose."""
        from cryptography.hazmat.primitives.hashes import SHA256
        from cryptography.hazmat.primitives.kdf.hkdf import HKDF

        return [HKDF(SHA256(), 32, None, f"proctor {purpose}".encode()).derive(text.encode()) for text in self._texts]


def require_secret(environment: Mapping[str, str], what: str) -> ServerSecret:
    """The environment's secret; `what` needs it, and says so where there is none."""
    found = ServerSecret.read(environment)
    if found is None:
        raise UserError(f"{what} needs a secret of the server: set {SECRET}, or {SECRET}_FILE. {HOW}")
    return found


class Sealer:
    def __init__(self, secret: ServerSecret) -> None:
        self._secret = secret

    @cached_property
    def _cipher(self) -> MultiFernet:
        from cryptography.fernet import Fernet, MultiFernet

        return MultiFernet([Fernet(base64.urlsafe_b64encode(key)) for key in self._secret.keys("sealing")])

    def seal(self, text: str, binding: Sequence[str]) -> str:
        """The text as it is kept; only who names the same binding gets it back."""
        return self._cipher.encrypt(orjson.dumps([list(binding), text])).decode()

    def open(self, sealed: str, binding: Sequence[str]) -> str:
        """The text; raises SealingError where it was sealed with another secret, changed, or meant for another."""
        from cryptography.fernet import InvalidToken

        try:
            bound, text = orjson.loads(self._cipher.decrypt(sealed.encode()))
        except InvalidToken:
            raise SealingError(
                f"What is kept for {binding[0]!r} was sealed with another secret: add that one to {SECRET}, after the "
                "current one, and run 'proctor keys rotate'."
            ) from None
        if list(binding) != bound:
            raise SealingError(f"What is kept for {binding[0]!r} was sealed for something else.")
        return str(text)

    def renew(self, sealed: str) -> str:
        """The same, sealed with the current secret."""
        from cryptography.fernet import InvalidToken

        try:
            return self._cipher.rotate(sealed.encode()).decode()
        except InvalidToken:
            raise SealingError(
                f"Something was sealed with a secret that {SECRET} does not have any more: add it, after the others."
            ) from None
