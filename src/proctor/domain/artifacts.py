"""Where large bodies are kept: programs, logs, profiles, raw data. Each once, under the hash of its content."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from hashlib import blake2b
from typing import IO, Protocol

from proctor.domain.errors import DamagedArtifactError, NotFoundError

_KEY = re.compile(r"[0-9a-f]{40}")
_DIGEST_BYTES = 20


def key_of(content: bytes | Iterable[bytes]) -> str:
    """The hash that a body is found under."""
    digest = blake2b(digest_size=_DIGEST_BYTES)
    for chunk in (content,) if isinstance(content, bytes) else content:
        digest.update(chunk)
    return digest.hexdigest()


def is_key(text: str) -> bool:
    return _KEY.fullmatch(text) is not None


def path_of(key: str) -> str:
    """Where a body is below the folder or prefix of its store; NotFoundError for anything that is not a key."""
    if not is_key(key):
        raise NotFoundError(f"{key!r} is not the key of an artifact.")
    return f"{key[:2]}/{key[2:]}"


def copied(chunks: Iterable[bytes], file: IO[bytes]) -> Iterator[bytes]:
    """The chunks, each written to a file before it is given on."""
    for chunk in chunks:
        file.write(chunk)
        yield chunk


def verified(key: str, chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The body's chunks; the last one only when all of them together are what was kept."""
    digest, held = blake2b(digest_size=_DIGEST_BYTES), b""
    for chunk in chunks:
        digest.update(chunk)
        if held:
            yield held
        held = chunk
    if digest.hexdigest() != key:
        raise damaged(key)
    if held:
        yield held


def damaged(key: str) -> DamagedArtifactError:
    return DamagedArtifactError(f"The artifact {key} is damaged: its content is not what was kept.")


class Artifacts(Protocol):
    """A store of bodies by key. What is no key is a NotFoundError, a store that cannot be used a StoreError."""

    @property
    def location(self) -> str:
        """What a user would call the store; it holds no secret."""
        ...

    def put(self, name: str, content: bytes | Iterable[bytes]) -> str:
        """Keep it, and give the key it is found under; `name` is what a reader would call the file.

        Keeping it again is harmless, and never writes over what is there. Chunks are not held in memory together.
        """
        ...

    def get(self, key: str) -> bytes:
        """The whole body; NotFoundError where there is none, StoreError where it is not what was kept."""
        ...

    def chunks(self, key: str) -> Iterator[bytes]:
        """The body, part by part; a damaged one raises StoreError before its last part is given."""
        ...

    def size(self, key: str) -> int | None:
        """In bytes; None where there is none."""
        ...

    def exists(self, key: str) -> bool: ...

    def kept_at(self, key: str) -> datetime | None:
        """When it was kept first; None where there is none."""
        ...

    def delete(self, key: str) -> int | None:
        """Take a body away and give its size; None where there is none."""
        ...

    def keys(self) -> Iterator[str]:
        """Every key, read as you go."""
        ...

    def link(self, key: str, *, seconds: int) -> str:
        """An address from which anybody can download the body for so long; UserError where the store has none."""
        ...

    def check(self) -> None:
        """Write, read and delete a probe; StoreError says what is wrong."""
        ...

    def delayed(self) -> str | None:
        """Words for bodies that wait on this machine until the store can be reached; None where none does."""
        ...
