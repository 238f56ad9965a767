"""A project's own benchmarks in an archive: held to what an upload is held to.

Who uploads one is refused code, other places' data and names that lead elsewhere. An archive brings rows that may never
have been uploaded anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from proctor.benchmarks.foreign import read_foreign
from proctor.domain.documents.benchmark import BenchmarkDescription
from proctor.domain.errors import StoreError, UserError
from proctor.domain.submission import clashing, clean_path
from proctor.programs.tools.scratch import scratch
from proctor.runs.chunks.content import MAX_FILES

MAX_ENTRY_BYTES = 16 << 20


def check_archived(row: Mapping[str, Any], keys: Collection[str], read: Callable[[str], Iterator[bytes]]) -> None:
    """Raises StoreError for a row of `own_benchmarks` that no upload makes; `keys` are the archive's own artifacts."""
    try:
        _check(row, keys, read)
    except (msgspec.MsgspecError, ValueError, UserError, OSError) as reason:
        raise StoreError(f"The archive's benchmark {row['name']!r:.120} cannot be taken: {reason}") from None


def _check(row: Mapping[str, Any], keys: Collection[str], read: Callable[[str], Iterator[bytes]]) -> None:
    files = msgspec.json.decode(row["files"], type=dict[str, str])
    msgspec.json.decode(row["description"], type=BenchmarkDescription)
    _check_paths(files)
    if missing := sorted(path for path, key in files.items() if key not in keys):
        raise ValueError(f"its file {missing[0]!r:.120} is not in the archive")
    entry = str(row["entry"])
    if entry not in files or "/" in entry:
        raise ValueError(f"it has no file {entry!r:.120}")
    with scratch() as place:
        _write(place / entry, read(files[entry]))
        found = read_foreign(place / entry, set(files))
    if (found.name, found.version) != (row["name"], row["version"]):
        raise ValueError(f"its file says that it is {found.name} {found.version}")


def _check_paths(files: Mapping[str, str]) -> None:
    if len(files) > MAX_FILES:
        raise ValueError(f"it has {len(files):,} files, over the limit of {MAX_FILES:,}")
    seen: set[str] = set()
    for path in files:
        if clean_path(path) != path:
            raise ValueError(f"{path!r:.120} is not how a file is named here")
        if path.casefold() in seen or clashing(path.casefold(), seen):
            raise ValueError(f"{path!r:.120} is there twice, or is a file and a folder at once")
        seen.add(path.casefold())


def _write(path: Path, chunks: Iterator[bytes]) -> None:
    size = 0
    with path.open("wb") as file:
        for chunk in chunks:
            size += len(chunk)
            if size > MAX_ENTRY_BYTES:
                raise ValueError(f"{path.name} is larger than {MAX_ENTRY_BYTES >> 20} MiB")
            file.write(chunk)
