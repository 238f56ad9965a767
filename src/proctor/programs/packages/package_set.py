"""What a program brings along, and the two ways in which that can fail."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

MAX_PACKED_BYTES = 128 << 20
"""Of all archives together."""


class BuildError(Exception):
    """The program cannot be built, and that is its own doing."""


class PackageSet(Struct, frozen=True):
    """Archives to be unpacked in a workspace."""

    archives: Mapping[str, bytes]
    """By file name: wheels, or a zip of `node_modules`."""
    pins: tuple[str, ...]
    """Every package with its version, as its own tools write it."""

    @property
    def packed_bytes(self) -> int:
        return sum(map(len, self.archives.values()))


NO_PACKAGES = PackageSet({}, ())
