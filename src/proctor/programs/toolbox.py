"""What marking needs beside Proctor: packages of its own, and pytest and coverage as one archive for a workspace."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec

from proctor.domain.errors import BenchmarkError

NEEDED = ("hypothesis", "packaging", "pytest")
"""Without these nothing can be marked; without a tool that reads programs, only its part is not measured."""
WANTED = ("pytest", "coverage")
_LEFT_OUT = re.compile(r"(^|/)(__pycache__|tests?|htmlfiles)/|^\.\./|\.(pyc|pyi|dist-info/RECORD)$")
# pytest colours what it prints; of the colourer's hundreds of languages it needs this one.
_LEXERS = re.compile(r"^pygments/lexers/(?!__init__|_mapping|python|diff)")


class NoToolboxError(Exception):
    """pytest or coverage is not installed here."""


def refuse_without_needed() -> None:
    """Raises BenchmarkError where programs cannot be marked at all: before a model is asked for one."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise BenchmarkError(f"To mark programs, {', '.join(missing)} must be there: pip install 'proctor[problems]'.")


def _names(package: str, seen: set[str]) -> Iterator[str]:
    """A package and everything it needs on this machine."""
    from packaging.requirements import Requirement

    key = re.sub(r"[-_.]+", "-", package).lower()
    if key in seen:
        return
    seen.add(key)
    yield package
    for text in distribution(package).requires or ():
        needed = Requirement(text)
        if needed.marker is None or needed.marker.evaluate({"extra": ""}):
            yield from _names(needed.name, seen)


@cache
def versions() -> dict[str, str]:
    try:
        return {name: distribution(name).version for name in WANTED}
    except PackageNotFoundError as error:
        raise NoToolboxError(f"{error.name} is not installed; it comes with proctor[problems]") from error


@cache
def archive() -> bytes:
    """A zip of the installed files, made once."""
    versions()
    out, seen = io.BytesIO(), set[str]()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as made:
        for package in WANTED:
            for name in _names(package, seen):
                for path in distribution(name).files or ():
                    if not _LEFT_OUT.search(str(path)) and not _LEXERS.match(str(path)):
                        made.writestr(str(path), path.read_binary())
    return out.getvalue()
