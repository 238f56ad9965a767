"""Passwords: hashed with argon2id, checked by equal work whether or not there is such a user."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import BoundedSemaphore
from typing import TYPE_CHECKING

from proctor.domain.errors import TooManyTriesError, UserError

if TYPE_CHECKING:
    from pwdlib import PasswordHash

AT_ONCE = 4
"""Each takes 64 MB and a core for some tens of milliseconds: more at once would be a way to bring the server down."""
MIN_LENGTH, MAX_LENGTH = 12, 1_000
_room = BoundedSemaphore(AT_ONCE)


@cache
def _hasher() -> PasswordHash:
    from pwdlib import PasswordHash

    return PasswordHash.recommended()


@cache
def _nobodys_hash() -> str:
    return _hasher().hash("nobody has this password")


@contextmanager
def _place() -> Iterator[None]:
    if not _room.acquire(blocking=False):
        raise TooManyTriesError("Many people are signing in just now. Try again in a moment.", 1.0)
    try:
        yield
    finally:
        _room.release()


def hash_password(password: str) -> str:
    """Raises UserError for a password that is easily guessed."""
    if not MIN_LENGTH <= len(password) <= MAX_LENGTH:
        raise UserError(f"A password has {MIN_LENGTH} to {MAX_LENGTH:,} characters.")
    if len(set(password)) < 5:
        raise UserError("That password is too easily guessed: it repeats a few characters.")
    with _place():
        return _hasher().hash(password)


def is_password(password: str, hashed: str | None) -> bool:
    """False for nobody's, after the same work; at most a few at once, then TooManyTriesError."""
    with _place():
        is_right = _hasher().verify(password[:MAX_LENGTH], hashed or _nobodys_hash())
    return is_right and hashed is not None
