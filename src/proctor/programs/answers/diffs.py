"""Changes to files that are there: unified diffs, and search-and-replace blocks."""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Struct

from proctor.programs.answers.labels import path_in_label, whole_path

_OLD = re.compile(r"^--- (?P<path>[^\t\n]+?)(?:\t.*)?$")
_NEW = re.compile(r"^\+\+\+ (?P<path>[^\t\n]+?)(?:\t.*)?$")
_HUNK = re.compile(r"^@@(?: -(?P<start>\d+)(?:,\d+)? \+\d+(?:,\d+)? )?.*$")
NOWHERE = "/dev/null"
_SEARCH = re.compile(r"^<{5,9} ?(?:SEARCH|ORIGINAL|HEAD).*$")
_MIDDLE = re.compile(r"^={5,9}\s*$")
_REPLACE = re.compile(r"^>{5,9} ?(?:REPLACE|UPDATED).*$")


class Change(Struct, frozen=True):
    """Old lines and the lines that take their place; `start` is where the old ones were said to be, from 0."""

    old: tuple[str, ...]
    new: tuple[str, ...]
    start: int | None = None


class Patch(Struct, frozen=True):
    path: str
    changes: tuple[Change, ...]
    is_new: bool = False
    is_removal: bool = False


def looks_like_diff(text: str) -> bool:
    return bool(re.search(r"^--- .+\n\+\+\+ .+\n", text, re.MULTILINE))


def looks_like_edits(text: str) -> bool:
    return bool(re.search(r"^<{5,9} ?(SEARCH|ORIGINAL)", text, re.MULTILINE))


def read_diff(text: str) -> list[Patch]:
    """Every file's part of a unified diff; lines that belong to none are passed over."""
    lines = text.split("\n")
    patches: list[Patch] = []
    place = 0
    while place + 1 < len(lines):
        old, new = _OLD.match(lines[place]), _NEW.match(lines[place + 1])
        if old is None or new is None:
            place += 1
            continue
        changes, place = _hunks(lines, place + 2)
        source, target = _plain(old["path"], "a/"), _plain(new["path"], "b/")
        path = source if target == NOWHERE else target
        patches.append(Patch(path, tuple(changes), source == NOWHERE, target == NOWHERE))
    return patches


def _plain(path: str, prefix: str) -> str:
    path = path.strip().strip('"')
    return path if path == NOWHERE else path.removeprefix(prefix)


def _hunks(lines: list[str], place: int) -> tuple[list[Change], int]:
    changes: list[Change] = []
    while place < len(lines) and (head := _HUNK.match(lines[place])) is not None:
        start = None if head["start"] is None else max(0, int(head["start"]) - 1)
        old: list[str] = []
        new: list[str] = []
        place += 1
        while place < len(lines) and not _ends_hunk(lines, place):
            _sort_in(lines[place], old, new)
            place += 1
        changes.append(Change(tuple(_trimmed(old, new)[0]), tuple(_trimmed(old, new)[1]), start))
    return changes, place


def _ends_hunk(lines: list[str], place: int) -> bool:
    line = lines[place]
    if _HUNK.match(line) or line.startswith(("diff --git ", "```", "~~~")):
        return True
    if _OLD.match(line) and place + 1 < len(lines) and _NEW.match(lines[place + 1]):
        return True
    return bool(line) and line[0] not in "+- \\\t"


def _sort_in(line: str, old: list[str], new: list[str]) -> None:
    if line.startswith("\\"):  # "No newline at end of file"
        return
    if line.startswith("+"):
        new.append(line[1:])
    elif line.startswith("-"):
        old.append(line[1:])
    else:
        kept = line.removeprefix(" ")
        old.append(kept)
        new.append(kept)


def _trimmed(old: list[str], new: list[str]) -> tuple[list[str], list[str]]:
    """Empty lines after the last line of a hunk belong to the answer, not to the file."""
    while old and new and old[-1] == "" == new[-1]:
        old, new = old[:-1], new[:-1]
    return old, new


def read_edits(text: str, fallback: str | None = None) -> list[Patch]:
    """Search-and-replace blocks; the file is named in the line before, or is the one before that."""
    lines = text.split("\n")
    patches: list[Patch] = []
    path = fallback
    place = 0
    while place < len(lines):
        if not _SEARCH.match(lines[place]):
            label = lines[place].strip().strip("`").strip()
            path = whole_path(label) or path_in_label(lines[place]) or path
            place += 1
            continue
        old, place = _until(lines, place + 1, _MIDDLE)
        new, place = _until(lines, place, _REPLACE)
        if path is not None:
            patches.append(Patch(path, (Change(tuple(old), tuple(new)),), is_new=not old))
    return patches


def _until(lines: list[str], place: int, end: re.Pattern[str]) -> tuple[list[str], int]:
    found = []
    while place < len(lines) and not end.match(lines[place]):
        found.append(lines[place])
        place += 1
    return found, place + 1


def apply(patch: Patch, files: Mapping[str, bytes]) -> bytes | None:
    """The file with its changes; None when it is removed; ValueError when a change does not fit."""
    if patch.is_removal:
        if patch.path not in files:
            raise ValueError("the file that is to be removed is not there")
        return None
    if patch.path not in files:
        if any(change.old for change in patch.changes):
            raise ValueError("the file that is to be changed is not there")
        return _joined([line for change in patch.changes for line in change.new])
    lines = files[patch.path].decode("utf-8", "replace").split("\n")
    moved = 0
    for number, change in enumerate(patch.changes, start=1):
        hint = None if change.start is None else change.start + moved
        place = _find(lines, change.old, hint)
        if place is None:
            raise ValueError(f"change {number} does not fit: its old lines are not in the file")
        lines[place : place + len(change.old)] = change.new
        moved += len(change.new) - len(change.old)
    return _joined(lines)


def _joined(lines: list[str]) -> bytes:
    return ("\n".join(lines).rstrip("\n") + "\n").encode()


def _find(lines: list[str], old: tuple[str, ...], hint: int | None) -> int | None:
    """Where the old lines are: nearest to where they were said to be; trailing space is forgiven, then all indent."""
    if not old:
        return min(hint + 1 if hint else len(lines), len(lines))
    for plain in (str, str.rstrip, str.strip):
        wanted = [plain(line) for line in old]
        there = [plain(line) for line in lines]
        if plain is str.strip and not any(wanted):
            continue
        places = [place for place in range(len(lines) - len(old) + 1) if there[place : place + len(old)] == wanted]
        if places:
            return min(places, key=lambda place: abs(place - (hint or 0)))
    return None
