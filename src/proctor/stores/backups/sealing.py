"""Encrypts what leaves for a backup: AES-256-GCM in pieces, so that nothing is held in memory whole.

Each file has a key of its own, made from the backups' key and a salt. A piece is bound to the file's name, to its
place in the file and to whether it is the last: files cannot be swapped, cut short or put together anew unnoticed.
"""

from __future__ import annotations

import base64
import binascii
import os
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import TYPE_CHECKING

from proctor.domain.errors import StoreError, UserError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

KEY_BYTES = 32
SALT_BYTES = 16
PIECE_BYTES = 1024 * 1024
TAG_BYTES = 16
MARK = b"proctor sealed 1\n"
HOW = "It is 32 bytes as base64; 'openssl rand -base64 32' makes one."


class BackupKey:
    """The key that backups are encrypted with; printing it shows nothing."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    @classmethod
    def read(cls, text: str, where: str) -> BackupKey:
        """Parse a key; raises UserError that names where it stood, never the key."""
        try:
            secret = base64.b64decode(text.strip(), validate=True)
        except (binascii.Error, ValueError):
            secret = b""
        if len(secret) != KEY_BYTES:
            raise UserError(f"{where} holds no key for backups. {HOW}")
        return cls(secret)

    def keyed_digest(self, purpose: str, content: bytes) -> str:
        """What only who has the key can compute."""
        return blake2b(content, key=self._secret, person=purpose.encode(), digest_size=20).hexdigest()

    def seal(self, name: str, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """The file as it is kept."""
        pieces = Pieces(self, name)
        yield pieces.head
        for chunk in chunks:
            yield from pieces.add(chunk)
        yield pieces.end()

    def open(self, name: str, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """The file as it was; StoreError where a byte of it was changed, or the key is another."""
        from cryptography.exceptions import InvalidTag

        held, number, cipher = b"", 0, None
        whole = PIECE_BYTES + TAG_BYTES
        try:
            for chunk in chunks:
                held += chunk
                if cipher is None and len(held) >= len(MARK) + SALT_BYTES:
                    cipher, held = self._opened(name, held)
                while cipher is not None and len(held) > whole:
                    yield cipher.decrypt(nonce(number, is_last=False), held[:whole], name.encode())
                    held, number = held[whole:], number + 1
            if cipher is None:
                raise StoreError(f"{name} is cut short.")
            yield cipher.decrypt(nonce(number, is_last=True), held, name.encode())
        except InvalidTag:
            raise StoreError(f"{name} is damaged: it is not what was written.") from None

    def _opened(self, name: str, held: bytes) -> tuple[AESGCM, bytes]:
        if not held.startswith(MARK):
            raise StoreError(f"{name} is not encrypted as this backup is.")
        start = len(MARK) + SALT_BYTES
        return self.cipher(held[len(MARK) : start]), held[start:]

    def cipher(self, salt: bytes) -> AESGCM:
        """What pieces of the one file with this salt are encrypted with."""
        try:
            from cryptography.hazmat.primitives.ciphers.aead import AESGCM
        except ModuleNotFoundError:
            raise UserError("Encryption needs the package cryptography: pip install 'proctor[server]'.") from None
        return AESGCM(blake2b(salt, key=self._secret, person=b"proctor file", digest_size=KEY_BYTES).digest())


class Pieces:
    """A file while it is being encrypted: what is added comes out in pieces."""

    def __init__(self, key: BackupKey, name: str) -> None:
        salt = os.urandom(SALT_BYTES)
        self.head = MARK + salt
        self._cipher, self._name = key.cipher(salt), name.encode()
        self._held, self._number = b"", 0

    def add(self, chunk: bytes) -> Iterator[bytes]:
        self._held += chunk
        while len(self._held) > PIECE_BYTES:  # the last piece is never empty where there is anything
            place = nonce(self._number, is_last=False)
            yield self._cipher.encrypt(place, self._held[:PIECE_BYTES], self._name)
            self._held, self._number = self._held[PIECE_BYTES:], self._number + 1

    def end(self) -> bytes:
        return self._cipher.encrypt(nonce(self._number, is_last=True), self._held, self._name)


def nonce(number: int, *, is_last: bool) -> bytes:
    return number.to_bytes(11, "big") + bytes([is_last])
