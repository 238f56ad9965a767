"""Artifacts as objects in a bucket of S3, or of a server that speaks its protocol. Needs obstore."""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import IO, TYPE_CHECKING

import obstore
from obstore.exceptions import AlreadyExistsError, PermissionDeniedError

from proctor.domain.artifacts import copied, damaged, is_key, key_of, path_of, verified
from proctor.domain.errors import NotFoundError, StoreError, UserError
from proctor.stores.artifacts.s3_bucket import PART_BYTES, S3Bucket
from proctor.stores.artifacts.s3_location import S3Location

if TYPE_CHECKING:
    from obstore import ObjectMeta

PARTS_AT_ONCE = 3
PAGE = 1000
MAX_LINK_SECONDS = 7 * 24 * 3600
"""S3 signs for no longer."""


class S3Artifacts:
    """Bodies as objects below a prefix; nothing is connected to before one is asked for."""

    def __init__(self, place: S3Location, environment: Mapping[str, str], *, is_offline: bool = False) -> None:
        self._bucket = S3Bucket(place, environment, is_offline=is_offline)

    @property
    def location(self) -> str:
        return self._bucket.place.text

    def put(self, name: str, content: bytes | Iterable[bytes]) -> str:  # noqa: ARG002 - whoever refers to it keeps its name
        if isinstance(content, bytes) and len(content) <= PART_BYTES:
            return self._create(content)
        with tempfile.TemporaryFile(prefix="proctor-") as file:
            key = key_of(copied((content,) if isinstance(content, bytes) else content, file))
            size = file.tell()
            file.seek(0)
            if size <= PART_BYTES:
                return self._create(file.read())
            if not self._has(key, size):
                self._upload(key, file)
        return key

    def _create(self, content: bytes) -> str:
        key = key_of(content)
        with self._bucket.opened("write to") as bucket:
            try:
                obstore.put(bucket, path_of(key), content, mode="create")
            except AlreadyExistsError:
                if not self._has(key, len(content)):  # another process was writing or deleting it, and is not done
                    raise StoreError(f"{self.location} refused to store the artifact {key}; try again.") from None
        return key

    def _upload(self, key: str, file: IO[bytes]) -> None:
        # Parts cannot be sent on condition; whoever sends the same key at the same time sends the same bytes.
        parts = {"use_multipart": True, "chunk_size": PART_BYTES, "max_concurrency": PARTS_AT_ONCE}
        with self._bucket.opened("write to") as bucket:
            obstore.put(bucket, path_of(key), file, **parts)  # type: ignore[arg-type]

    def _has(self, key: str, size: int) -> bool:
        found = self.size(key)
        if found not in (None, size):
            raise damaged(key)
        return found is not None

    def get(self, key: str) -> bytes:
        return b"".join(self.chunks(key))

    def chunks(self, key: str) -> Iterator[bytes]:
        return verified(key, self._read(key, path_of(key)))

    def _read(self, key: str, path: str) -> Iterator[bytes]:
        with self._bucket.opened("read from", key) as bucket:
            for chunk in obstore.get(bucket, path).stream(min_chunk_size=PART_BYTES):
                yield bytes(chunk)

    def size(self, key: str) -> int | None:
        path = path_of(key)
        try:
            return self._describe(key, path)["size"]
        except NotFoundError:
            return None

    def _describe(self, key: str, path: str) -> ObjectMeta:
        with self._bucket.opened("read from", key) as bucket:
            try:
                return obstore.head(bucket, path)
            except (FileNotFoundError, PermissionDeniedError):
                # Only the body of an answer says whether the bucket is missing or the secret wrong; HEAD has none.
                return obstore.get(bucket, path).meta

    def exists(self, key: str) -> bool:
        return self.size(key) is not None

    def kept_at(self, key: str) -> datetime | None:
        path = path_of(key)
        try:
            return self._describe(key, path)["last_modified"]
        except NotFoundError:
            return None

    def delete(self, key: str) -> int | None:
        size = self.size(key)
        if size is not None:
            with self._bucket.opened("delete from") as bucket:
                obstore.delete(bucket, path_of(key))
        return size

    def keys(self) -> Iterator[str]:
        with self._bucket.opened("list") as bucket:
            for page in obstore.list(bucket, chunk_size=PAGE):
                for item in page:
                    folder, _, name = item["path"].partition("/")
                    if is_key(key := folder + name) and item["path"] == path_of(key):
                        yield key

    def link(self, key: str, *, seconds: int) -> str:
        if not 1 <= seconds <= MAX_LINK_SECONDS:
            raise UserError(f"A download link holds for 1 to {MAX_LINK_SECONDS} seconds, not {seconds}.")
        if not self.exists(key):
            raise NotFoundError(f"There is no artifact {key} in {self.location}.")
        with self._bucket.opened("sign links to") as bucket:
            return obstore.sign(bucket, "GET", path_of(key), timedelta(seconds=seconds))

    def check(self) -> None:
        content = b"Proctor checks that this place can be used. " + secrets.token_bytes(16)
        key = self.put("probe", content)
        found = self.get(key)
        self.delete(key)
        if found != content or self.exists(key):
            raise StoreError(f"{self.location} does not give back, or does not delete, what is written to it.")

    def delayed(self) -> str | None:
        return None
