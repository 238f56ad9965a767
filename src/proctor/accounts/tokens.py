"""What only its owner has: 256 random bits, of which the store keeps a hash."""

from __future__ import annotations

import secrets
from hashlib import sha256


def new_token() -> str:
    return secrets.token_urlsafe(32)


def hash_token(token: str) -> str:
    """SHA-256 is enough: nobody guesses 256 random bits, however quickly he can try."""
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def csrf_token(session_token: str) -> str:
    """What a page of ours can read and send with every change, and a foreign page cannot."""
    return sha256(b"csrf\x00" + session_token.encode("utf-8", "surrogatepass")).hexdigest()
