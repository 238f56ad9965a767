"""Files that samples bring along: beside the data, or inside it."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from stat import S_ISREG
from typing import Any

from msgspec import Struct

from proctor.domain.message import Part
from proctor.prompts.files import MAX_FILE_BYTES, part_of, too_large


class DataFolder(Struct, frozen=True):
    """Where paths in data lead: from `folder`, and never out of `top`: whoever wrote the data may be anybody."""

    folder: Path
    top: Path

    def read(self, value: Any) -> tuple[Part, ...]:
        """The files a field names or holds; raises ValueError saying what is wrong with one."""
        return tuple(part_of(data, name) for data, name in self._found(value))

    def _found(self, value: Any) -> Iterator[tuple[bytes, str]]:
        if value is None or value == "":
            return
        if isinstance(value, str):
            yield from_data_url(value) if value.startswith("data:") else self._from_path(value)
        elif isinstance(value, list | tuple):
            for item in value:
                yield from self._found(item)
        elif isinstance(value, bytes):
            yield value, "file"
        elif isinstance(value, Mapping) and value.get("bytes") is not None:  # as data sets on a hub hold images
            yield bytes(value["bytes"]), PurePosixPath(str(value.get("path") or "file")).name
        elif isinstance(value, Mapping) and isinstance(value.get("path"), str):
            yield self._from_path(value["path"])
        else:
            raise ValueError(f"a file is a path, a data: URL, or {{bytes: …, path: …}}, not {value!r:.60}")

    def _from_path(self, text: str) -> tuple[bytes, str]:
        if "://" in text:
            raise ValueError(f"the file {text!r} is elsewhere: files are read from beside the data, never fetched")
        try:
            path = (self.folder / text).resolve()
            if not path.is_relative_to(self.top.resolve()):
                raise ValueError(f"the file {text!r} is outside the benchmark's folder")
            found = path.stat()
            if not S_ISREG(found.st_mode):
                raise ValueError(f"{text!r} is no file")
            if found.st_size > MAX_FILE_BYTES:
                raise ValueError(too_large(text, found.st_size))
            return path.read_bytes(), path.name
        except OSError as fault:
            raise ValueError(f"the file {text!r} cannot be read: {fault.strerror or fault}") from fault


def from_data_url(url: str) -> tuple[bytes, str]:
    """The bytes a data: URL holds, and what they are called; raises ValueError for anything else."""
    head, comma, body = url.partition(",")
    if not comma or not head.endswith(";base64"):
        raise ValueError(f"a data: URL is data:TYPE;base64,…, not {url!r:.60}")
    try:
        return base64.b64decode(body, validate=True), "file"
    except (binascii.Error, ValueError) as fault:
        raise ValueError(f"a data: URL holds no base64: {fault}") from fault
