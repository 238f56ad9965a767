"""Reads a ZIP archive whose entries may be packed with Zstandard, as Inspect's are; Python's own cannot."""

from __future__ import annotations

import struct
import zipfile
import zlib
from lzma import LZMAError
from pathlib import Path

from proctor.domain.errors import UserError
from proctor.runs.imports.log import LogError

ZSTANDARD = 93
MAX_BYTES = 1 << 30
"""Of one entry; one that says it is larger is not unpacked."""
MAX_TOTAL_BYTES = 4 << 30
"""Of all entries that are read together: they are held in memory."""
_LOCAL_HEADER = struct.Struct("<4s5H3L2H")


class Archive:
    """The entries of a file by name."""

    def __init__(self, path: Path) -> None:
        try:
            self._zip = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, OSError) as error:
            raise LogError(f"{path} cannot be opened as a log of Inspect: {error}.") from None
        self._path, self._left = path, MAX_TOTAL_BYTES

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()

    def names(self) -> list[str]:
        return self._zip.namelist()

    def read(self, name: str) -> bytes:
        try:
            entry = self._zip.getinfo(name)
        except KeyError:
            raise LogError(f"{self._path} has no {name}: it is not a finished log of Inspect.") from None
        if entry.file_size > MAX_BYTES:
            raise LogError(f"{self._path}: {name} is larger than 1 GiB.")
        self._left -= entry.file_size
        if self._left < 0:
            raise LogError(f"{self._path} unpacks to more than 4 GiB.")
        try:
            return self._unpacked(entry) if entry.compress_type == ZSTANDARD else self._zip.read(entry)
        except (
            zipfile.BadZipFile,
            OSError,
            EOFError,
            RuntimeError,
            ValueError,
            struct.error,
            zlib.error,
            LZMAError,
        ) as error:
            raise LogError(f"{self._path}: {name} cannot be unpacked: {error}.") from None

    def _unpacked(self, entry: zipfile.ZipInfo) -> bytes:
        try:
            import zstandard
        except ModuleNotFoundError:
            raise UserError(
                "This log of Inspect needs the package zstandard: pip install 'proctor[inspect]'."
            ) from None
        with self._path.open("rb") as file:
            file.seek(entry.header_offset)
            *_, name_bytes, extra_bytes = _LOCAL_HEADER.unpack(file.read(_LOCAL_HEADER.size))
            file.seek(name_bytes + extra_bytes, 1)
            packed = file.read(entry.compress_size)
        try:
            with zstandard.ZstdDecompressor().stream_reader(packed) as reader:
                found = reader.read(entry.file_size + 1)
        except zstandard.ZstdError as error:
            raise LogError(f"{self._path}: {entry.filename} cannot be unpacked: {error}.") from None
        if len(found) != entry.file_size or zlib.crc32(found) != entry.CRC:
            raise LogError(f"{self._path}: {entry.filename} is not what the archive says.")
        return bytes(found)
