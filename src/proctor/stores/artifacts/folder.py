"""Artifacts as files in a folder."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from proctor.domain.artifacts import copied, damaged, is_key, key_of, path_of, verified
from proctor.domain.errors import NotFoundError, StoreError, UserError
from proctor.stores.artifacts import S3_SCHEME, VARIABLE

CHUNK_BYTES = 1024 * 1024
_UNFINISHED = ".new-"
_PROBE = b"Proctor checks that this folder can be used."


class FolderArtifacts:
    """Bodies as files in a folder, which is made when the first one is kept."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def location(self) -> str:
        return str(self.folder)

    def path_of(self, key: str) -> Path:
        """Where a body is or would be."""
        return self.folder / path_of(key)

    def put(self, name: str, content: bytes | Iterable[bytes]) -> str:  # noqa: ARG002 - whoever refers to it keeps its name
        if isinstance(content, bytes) and self._has(key := key_of(content), len(content)):
            return key
        with self._explained("keep an artifact in"):
            self.folder.mkdir(parents=True, exist_ok=True)
            with _written((content,) if isinstance(content, bytes) else content, self.folder) as (path, key):
                if not self._has(key, path.stat().st_size):
                    target = self.path_of(key)
                    target.parent.mkdir(exist_ok=True)
                    path.replace(target)
        return key

    def _has(self, key: str, size: int) -> bool:
        found = self.size(key)
        if found not in (None, size):
            raise damaged(key)
        return found is not None

    def get(self, key: str) -> bytes:
        return b"".join(self.chunks(key))

    def chunks(self, key: str) -> Iterator[bytes]:
        return verified(key, self._read(self.path_of(key)))

    def _read(self, path: Path) -> Iterator[bytes]:
        with self._explained("read an artifact in"):
            try:
                file = path.open("rb")
            except FileNotFoundError:
                raise NotFoundError(f"There is no artifact {path.parent.name}{path.name} in {self.folder}.") from None
            with file:
                while chunk := file.read(CHUNK_BYTES):
                    yield chunk

    def size(self, key: str) -> int | None:
        path = self.path_of(key)
        with self._explained("look for an artifact in"):
            try:
                return path.stat().st_size
            except FileNotFoundError:
                return None

    def exists(self, key: str) -> bool:
        return self.size(key) is not None

    def kept_at(self, key: str) -> datetime | None:
        path = self.path_of(key)
        with self._explained("look for an artifact in"):
            try:
                return datetime.fromtimestamp(path.stat().st_mtime, UTC)
            except FileNotFoundError:
                return None

    def delete(self, key: str) -> int | None:
        size = self.size(key)
        with self._explained("delete an artifact in"):
            self.path_of(key).unlink(missing_ok=True)
        return size

    def keys(self) -> Iterator[str]:
        with self._explained("list the artifacts in"):
            for folder in sorted(self.folder.glob("[0-9a-f][0-9a-f]")):
                with os.scandir(folder) as entries:
                    for entry in entries:
                        if is_key(key := folder.name + entry.name):
                            yield key

    def link(self, key: str, *, seconds: int) -> str:  # noqa: ARG002 - the protocol's
        path_of(key)
        raise UserError(
            f"The artifacts are in a folder ({self.folder}), which has no download links. "
            f"Stores in S3 have them: {VARIABLE}={S3_SCHEME}BUCKET/PREFIX."
        )

    def check(self) -> None:
        with self._explained("write in"):
            self.folder.mkdir(parents=True, exist_ok=True)
            with _written([_PROBE], self.folder) as (path, key):
                if key_of(path.read_bytes()) != key:
                    raise StoreError(f"{self.folder} does not give back what is written in it.")

    def delayed(self) -> str | None:
        return None

    @contextmanager
    def _explained(self, verb: str) -> Iterator[None]:
        try:
            yield
        except OSError as fault:
            raise StoreError(
                f"Proctor cannot {verb} {self.folder}: {fault.strerror or fault}. "
                f"Set {VARIABLE} to a place that can be used."
            ) from fault


@contextmanager
def _written(chunks: Iterable[bytes], folder: Path) -> Iterator[tuple[Path, str]]:
    """A whole file without a name of its own yet, and its key; readers never see half a body, whenever we end."""
    import tempfile  # most runs keep nothing, and it brings every kind of compression along

    descriptor, name = tempfile.mkstemp(prefix=_UNFINISHED, dir=folder)
    path = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            key = key_of(copied(chunks, file))
            file.flush()
            os.fsync(file.fileno())
        yield path, key
    finally:
        path.unlink(missing_ok=True)
