"""Backups as objects of S3. Needs obstore."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator

import obstore

from proctor.stores.artifacts.s3_bucket import PART_BYTES, S3Bucket

PAGE = 1000


class S3Place:
    """Files as objects below a prefix."""

    def __init__(self, bucket: S3Bucket) -> None:
        self._bucket = bucket

    @property
    def location(self) -> str:
        return self._bucket.place.text

    def put(self, name: str, chunks: Iterable[bytes]) -> int:
        with tempfile.TemporaryFile(prefix="proctor-") as file:
            for chunk in chunks:
                file.write(chunk)
            size = file.tell()
            file.seek(0)
            with self._bucket.opened("write to") as bucket:
                obstore.put(bucket, name, file, use_multipart=size > PART_BYTES, chunk_size=PART_BYTES)
        return size

    def read(self, name: str) -> Iterator[bytes]:
        with self._bucket.opened("read from", name) as bucket:
            for chunk in obstore.get(bucket, name).stream(min_chunk_size=PART_BYTES):
                yield bytes(chunk)

    def names(self, folder: str) -> Iterator[str]:
        with self._bucket.opened("list") as bucket:
            for page in obstore.list(bucket, prefix=folder, chunk_size=PAGE):
                for item in page:
                    yield item["path"]

    def delete(self, name: str) -> None:
        with self._bucket.opened("delete from") as bucket:
            obstore.delete(bucket, name)
