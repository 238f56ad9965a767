"""Large bodies by what they are: programs, logs and profiles, each kept once under the hash of its content."""

from __future__ import annotations

import os
import re
import tempfile
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO

from proctor.domain.errors import NotFoundError, StoreError

_KEY = re.compile(r"[0-9a-f]{40}")
_DIGEST_BYTES = 20


def key_of(content: bytes) -> str:
    return blake2b(content, digest_size=_DIGEST_BYTES).hexdigest()


class FileArtifacts:
    """Bodies as files in a folder, which is made when the first one is kept."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path_of(self, key: str) -> Path:
        """Where a body is or would be."""
        if not _KEY.fullmatch(key):
            raise NotFoundError(f"{key!r} is not the key of an artifact.")
        return self.folder / key[:2] / key[2:]

    def put(self, name: str, content: bytes) -> str:  # noqa: ARG002 - a file's name is kept by whoever refers to it
        """Keep a body and return its key; keeping it again is harmless."""
        key = key_of(content)
        path = self.path_of(key)
        if path.is_file():
            return key
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            _write_whole(path, content)
        except OSError as fault:
            raise StoreError(f"The artifact cannot be kept in {self.folder}: {fault.strerror or fault}.") from fault
        return key

    def get(self, key: str) -> bytes:
        """The body; NotFoundError where there is none, StoreError where it is not what was kept."""
        with self.open(key) as file:
            content = file.read()
        if key_of(content) != key:
            raise StoreError(f"The artifact {key} is damaged: its content is not what was kept.")
        return content

    def remove(self, key: str) -> int | None:
        """Take a body away and return its size; None where there is none."""
        path = self.path_of(key)
        try:
            size = path.stat().st_size
            path.unlink()
        except FileNotFoundError:
            return None
        except OSError as fault:
            raise StoreError(f"The artifact {key} cannot be removed: {fault.strerror or fault}.") from fault
        return size

    def open(self, key: str) -> BinaryIO:
        path = self.path_of(key)
        try:
            return path.open("rb")
        except FileNotFoundError:
            raise NotFoundError(f"There is no artifact {key} in {self.folder}.") from None
        except OSError as fault:
            raise StoreError(f"The artifact {key} cannot be read: {fault.strerror or fault}.") from fault


def _write_whole(path: Path, content: bytes) -> None:
    """All of it under its name, or nothing: readers never see half a file, whenever the process ends."""
    descriptor, name = tempfile.mkstemp(prefix=".new-", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
