"""Where backups are kept: a folder or S3, as named files that appear whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from proctor.domain.errors import NotFoundError, StoreError, UserError
from proctor.stores.artifacts import S3_SCHEME, VARIABLE

CHUNK_BYTES = 1024 * 1024
UNFINISHED = ".new-"
FORMS = "Backups are kept in a folder (/PATH) or in s3://BUCKET/PREFIX."


class BackupPlace(Protocol):
    """Files by name, such as `artifacts/ab/cdef`. NotFoundError for one that is not there, StoreError for all else."""

    @property
    def location(self) -> str:
        """What a user would call the place; it holds no secret."""
        ...

    def put(self, name: str, chunks: Iterable[bytes]) -> int:
        """Write a file whole, over one that is there, and give its size; readers never see half of it."""
        ...

    def read(self, name: str) -> Iterator[bytes]: ...

    def names(self, folder: str) -> Iterator[str]:
        """The names of all files below a folder, in no order."""
        ...

    def delete(self, name: str) -> None: ...


class FolderPlace:
    """Files below a folder, which is made when the first one is written."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def location(self) -> str:
        return str(self._folder)

    def put(self, name: str, chunks: Iterable[bytes]) -> int:
        target = self._folder / name
        with self._explained("written"):
            target.parent.mkdir(parents=True, exist_ok=True)
            descriptor, unfinished = tempfile.mkstemp(prefix=UNFINISHED, dir=target.parent)
            try:
                with os.fdopen(descriptor, "wb") as file:
                    for chunk in chunks:
                        file.write(chunk)
                    file.flush()
                    os.fsync(file.fileno())
                    size = file.tell()
                Path(unfinished).replace(target)
            finally:
                Path(unfinished).unlink(missing_ok=True)
        return size

    def read(self, name: str) -> Iterator[bytes]:
        with self._explained("read"):
            try:
                file = (self._folder / name).open("rb")
            except FileNotFoundError:
                raise NotFoundError(f"There is no {name} in {self.location}.") from None
            with file:
                while chunk := file.read(CHUNK_BYTES):
                    yield chunk

    def names(self, folder: str) -> Iterator[str]:
        with self._explained("read"):
            for parent, _, files in os.walk(self._folder / folder):
                for file in files:
                    if not file.startswith(UNFINISHED):
                        yield (Path(parent) / file).relative_to(self._folder).as_posix()

    def delete(self, name: str) -> None:
        with self._explained("changed"):
            path = self._folder / name
            path.unlink(missing_ok=True)
            if path.parent != self._folder and path.parent.is_dir() and not any(path.parent.iterdir()):
                path.parent.rmdir()

    @contextmanager
    def _explained(self, verb: str) -> Iterator[None]:
        try:
            yield
        except OSError as fault:
            raise StoreError(f"{self.location} cannot be {verb}: {fault.strerror or fault}.") from fault


def open_place(url: str, environment: Mapping[str, str], *, is_offline: bool = False) -> BackupPlace:
    """The place that an address names; nothing is made or connected to yet."""
    if not url.startswith(S3_SCHEME):
        if "://" in url:
            raise UserError(f"{url.partition('://')[0]}:// is no place for backups. {FORMS}")
        return FolderPlace(Path(url).expanduser().absolute())
    from proctor.stores.artifacts.s3_location import read_s3_location

    try:
        place = read_s3_location(url, environment)
    except UserError as error:
        raise UserError(str(error).replace(VARIABLE, "The address of the backups")) from None
    try:
        from proctor.stores.artifacts.s3_bucket import S3Bucket
        from proctor.stores.backups.s3_place import S3Place
    except ImportError as missing:
        if missing.name is None or missing.name.partition(".")[0] != "obstore":
            raise
        raise UserError("Backups in S3 need the package obstore: pip install 'proctor[s3]'.") from None
    return S3Place(S3Bucket(place, environment, is_offline=is_offline))
