"""requirements.txt of a program: every package allowed, pinned and named, and nothing else in it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from proctor.programs.packages.package_set import BuildError

FILE = "requirements.txt"
MAX_BYTES = 256 << 10
_HASH = re.compile(r"\s--hash=(sha256:[0-9a-f]{64}|sha384:[0-9a-f]{96}|sha512:[0-9a-f]{128})(?=\s|$)")


class LockedRequirement(Struct, frozen=True):
    name: str
    pinned: str
    """With its version, extras and marker, as pip reads it."""
    hashes: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        return " ".join([self.pinned, *(f"--hash={one}" for one in self.hashes)])


def read_requirements(files: Mapping[str, bytes], allowed: Sequence[str]) -> tuple[LockedRequirement, ...]:
    """The packages a program asks for; one that is not pinned, or that the problem does not allow, is a BuildError."""
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    content = files.get(FILE, b"")
    if len(content) > MAX_BYTES:
        raise BuildError(f"{FILE} has {len(content):,} bytes; at most {MAX_BYTES:,} are read")
    permitted = {canonicalize_name(Requirement(name).name) for name in allowed if not name.startswith("npm:")}
    found = []
    for number, line in _logical_lines(content.decode("utf-8", "replace")):
        one = _read(line, number)
        if canonicalize_name(one.name) not in permitted:
            may = f"it allows {', '.join(sorted(permitted))}" if permitted else "it allows none"
            raise BuildError(f"{FILE}:{number}: the problem does not allow the package {one.name!r}; {may}")
        found.append(one)
    return tuple(found)


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines without comments, those that end with a backslash joined to the next; each with its first number."""
    joined, first = "", 0
    for number, raw in enumerate(text.splitlines(), 1):
        line = "" if raw.lstrip().startswith("#") else re.sub(r"\s#.*", "", raw).rstrip()
        first = first if joined else number
        joined += line.removesuffix("\\") + (" " if line.endswith("\\") else "")
        if not line.endswith("\\"):
            if joined.strip():
                yield first, joined.strip()
            joined = ""
    if joined.strip():
        yield first, joined.strip()


def _read(line: str, number: int) -> LockedRequirement:
    from packaging.requirements import InvalidRequirement, Requirement

    hashes = tuple(_HASH.findall(line))
    try:
        one = Requirement(_HASH.sub("", line).strip())
    except (InvalidRequirement, RecursionError):
        raise BuildError(f"{FILE}:{number}: {line[:80]!r} is not the name of a package with its version") from None
    if one.url:
        raise BuildError(f"{FILE}:{number}: {one.name!r} is to come from an address; give its version: {one.name}==1.2")
    pins = [pin for pin in one.specifier if pin.operator == "==" and not pin.version.endswith("*")]
    if len(pins) != 1 or len(one.specifier) != 1:
        raise BuildError(f"{FILE}:{number}: {str(one)[:80]!r} is not pinned; give one version: {one.name}==1.2")
    return LockedRequirement(one.name, str(one), hashes)
