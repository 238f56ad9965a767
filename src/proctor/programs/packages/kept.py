"""Packages that were fetched before: by the lock file, the interpreter and the source they came from."""

from __future__ import annotations

import hashlib
import os
import tempfile
import zipfile
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path

import orjson

from proctor.programs.packages.package_set import PackageSet

PACKAGES = "packages"
"""The folder in the home where they are kept."""
_PINS = "pins.json"


async def kept_or_fetched(
    folder: Path | None, key: Sequence[str], fetch: Callable[[], Awaitable[PackageSet]]
) -> PackageSet:
    """What is kept under this key, or what `fetch` gives, which is kept from then on."""
    if folder is None:
        return await fetch()
    text = "\0".join(key).encode()
    path = folder / f"{hashlib.sha256(text).hexdigest()}.zip"
    found = _read(path)
    if found is None:
        found = await fetch()
        with suppress(OSError):  # a disk that is full keeps nothing, which costs only the next one time
            _write(path, found)
    return found


def _read(path: Path) -> PackageSet | None:
    """None where there is nothing whole to read: it is fetched again."""
    try:
        with zipfile.ZipFile(path) as archive:
            files = {name: archive.read(name) for name in archive.namelist() if name != _PINS}
            return PackageSet(files, tuple(orjson.loads(archive.read(_PINS))))
    except (OSError, zipfile.BadZipFile, KeyError, ValueError):
        return None


def _write(path: Path, packages: PackageSet) -> None:
    """Whole or not at all: it gets its name once everything is in it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, made = tempfile.mkstemp(dir=path.parent, suffix=".new")
    try:
        with os.fdopen(descriptor, "wb") as file, zipfile.ZipFile(file, "w") as archive:
            archive.writestr(_PINS, orjson.dumps(packages.pins))
            for name, content in packages.archives.items():
                archive.writestr(name, content)
        Path(made).replace(path)
    except BaseException:
        Path(made).unlink(missing_ok=True)
        raise
