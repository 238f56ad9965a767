"""A program as it is handed in: files by path, none of which leads out of its folder.

What a program may be at most is said here and nowhere else; whoever takes, reads or marks one asks this module.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from msgspec import Struct, field

MAX_FILES = 1_000
MAX_BYTES = 16 * 1024 * 1024
"""Of all files together, as they are on disk."""
MAX_PATH_LENGTH = 240
MAX_NAME_LENGTH = 100
MAX_DEPTH = 16
"""Folders around a file."""
TOOL_FOLDERS = frozenset(
    {"__pycache__", ".git", ".hg", ".svn", "node_modules", ".venv", "venv", ".tox", ".pytest_cache", ".mypy_cache"}
    | {".ruff_cache", "__MACOSX"}
)
"""Folders that tools leave beside a program; never part of it."""
DESKTOP_FILES = frozenset({".DS_Store", "Thumbs.db", "desktop.ini"})
"""Files that desktops leave in folders and in the archives they make."""
_DRIVE = re.compile(r"^[A-Za-z]:")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
"""C0, C1, ends of lines, and changes of direction: a name with these is shown as another one."""


class Submission(Struct, frozen=True):
    """The files of a program, how they were found, and what was left out and why."""

    files: Mapping[str, bytes]
    form: str
    """How they were written: 'fences', 'json', 'tags', 'diff', 'edits', 'single', 'folder', 'zip', 'tar', 'agent' …"""
    refused: Mapping[str, str] = field(default_factory=dict)
    """Path -> why it was not taken."""
    notes: tuple[str, ...] = ()


def clean_path(path: str) -> str:
    """A relative path with forward slashes that stays inside its folder; ValueError says why it does not."""
    plain = path.strip().replace("\\", "/")
    if not plain:
        raise ValueError("the path is empty")
    if _CONTROL.search(plain):
        raise ValueError("the path has control characters")
    if plain.startswith("/") or _DRIVE.match(plain):
        raise ValueError("the path is absolute")
    if plain.startswith("~"):
        raise ValueError("the path begins with '~'")
    parts = [part for part in plain.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise ValueError("the path leads out of the folder ('..')")
    if not parts or plain.endswith("/"):
        raise ValueError("the path names no file")
    _refuse_long(parts)
    return "/".join(parts)


def beyond_limits(files: Mapping[str, bytes]) -> str | None:
    """Why these files are more than a program may be, or cannot be laid out as they are named; None when they can."""
    if len(files) > MAX_FILES:
        return f"there are {len(files):,} files, at most {MAX_FILES:,} are accepted"
    size = sum(map(len, files.values()))
    if size > MAX_BYTES:
        return f"the files together are {size:,} bytes, at most {MAX_BYTES // 2**20} MiB are accepted"
    for path in files:
        try:
            _refuse_misnamed(path)
        except ValueError as reason:
            return f"the file {path[:80]!r}: {reason}"
        if clash := next((folder for folder in _folders(path) if folder in files), None):
            return f"{clash!r} cannot be a file and a folder at once"
    return None


def _refuse_misnamed(path: str) -> None:
    """A path that is taken as it is: backslashes, '~' and the like are letters where programs run."""
    parts = path.split("/")
    if _CONTROL.search(path):
        raise ValueError("the path has control characters")
    if path.startswith("/"):
        raise ValueError("the path is absolute")
    if ".." in parts:
        raise ValueError("the path leads out of the folder ('..')")
    if "" in parts or "." in parts:
        raise ValueError("the path is not written in the plain form folder/file")
    _refuse_long(parts)


def _refuse_long(parts: list[str]) -> None:
    if len(parts) - 1 > MAX_DEPTH:
        raise ValueError(f"the path is more than {MAX_DEPTH} folders deep")
    try:
        lengths = [len(part.encode("utf-8")) for part in parts]
    except UnicodeEncodeError:
        raise ValueError("the path is not Unicode text") from None
    if max(lengths) > MAX_NAME_LENGTH or sum(lengths) + len(parts) > MAX_PATH_LENGTH:
        raise ValueError(f"the path is longer than {MAX_PATH_LENGTH} bytes, or a name in it than {MAX_NAME_LENGTH}")


def left_by(path: str) -> str | None:
    """The tool that left this file beside a program, if one did."""
    *folders, name = path.split("/")
    folder = next((part for part in folders if part in TOOL_FOLDERS), None)
    if folder is not None:
        return folder
    if name in DESKTOP_FILES or name.startswith("._"):  # macOS writes ._main.py beside main.py into archives
        return name
    return "compiled Python" if name.endswith((".pyc", ".pyo")) else None


def left_behind(tool: str) -> str:
    """Why what a tool left is not taken."""
    return f"left behind by a tool ({tool})"


class Collected:
    """Files taken one by one within the limits; what cannot be taken is kept with its reason."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.refused: dict[str, str] = {}

    def take(self, path: str, content: bytes) -> bool:
        """Take a file, or note why not; a later file of the same path replaces the earlier one."""
        shown = path[:MAX_PATH_LENGTH]
        try:
            name = clean_path(path)
            self._refuse_beyond(name, content)
        except ValueError as reason:
            self.refused[shown] = str(reason)
            return False
        self.files[name] = content
        return True

    def _refuse_beyond(self, name: str, content: bytes) -> None:
        if name not in self.files and len(self.files) >= MAX_FILES:
            raise ValueError(f"there are more than {MAX_FILES:,} files")
        size = sum(len(one) for path, one in self.files.items() if path != name) + len(content)
        if size > MAX_BYTES:
            raise ValueError(f"the files together are larger than {MAX_BYTES // 2**20} MiB")
        if clash := clashing(name, self.files):
            raise ValueError(f"{clash!r} cannot be a file and a folder at once")


def clashing(name: str, others: Iterable[str]) -> str | None:
    """The path that would have to be a file and a folder at once."""
    folders = _folders(name)
    for other in others:
        if other in folders or other.startswith(f"{name}/"):
            return min(other, name, key=len)
    return None


def _folders(path: str) -> set[str]:
    return {path[: match.start()] for match in re.finditer("/", path)}
