"""Refuses what should never reach a sandbox, with the reason."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

MAX_SOURCE_BYTES = 256 * 1024
MAX_LINE = 64 * 1024
MAX_DEPTH = 10
MAX_NAME = 255
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f]")
_NAME = re.compile(r"^[^\x00-\x1f\x7f]+$")


def source_problem(source: str) -> str | None:
    """Why this source, an answer by itself, is refused; None when it may run."""
    size = len(source.encode("utf-8", "surrogatepass"))
    if size > MAX_SOURCE_BYTES:
        return f"{size:,} bytes of source, at most {MAX_SOURCE_BYTES:,} are accepted"
    problem = text_problem(source)
    if problem:
        return problem
    longest = max(map(len, source.splitlines()), default=0)
    if longest > MAX_LINE:
        return f"a line of {longest:,} characters, at most {MAX_LINE:,} are accepted"
    return None


def text_problem(source: str) -> str | None:
    """Why this is no source text at all, however long; None when it is."""
    if any("\ud800" <= letter <= "\udfff" for letter in source):
        return "not text: it holds half characters"
    match = _CONTROL.search(source)
    if match is not None:
        return f"binary: control character 0x{ord(match[0]):02x} at position {match.start():,}"
    return None


def path_problem(name: str) -> str | None:
    """Why a check may not lay a file out under this name."""
    path = PurePosixPath(name)
    if not name or not _NAME.match(name) or "\\" in name:
        return "not a usable file name"
    if path.is_absolute() or ".." in path.parts or re.match(r"^[A-Za-z]:", name):
        return "leads out of the working folder"
    if len(path.parts) > MAX_DEPTH or any(len(part.encode("utf-8", "replace")) > MAX_NAME for part in path.parts):
        return "too deep or too long"
    if name.endswith("/") or str(path) != name:
        return "not written in the plain form folder/file"
    return None
