"""Files written as JSON: {"files": {...}}, a list of them, or a mapping of paths to contents."""

from __future__ import annotations

import json
from typing import Any

from proctor.programs.answers.labels import whole_path

_PATHS = ("path", "file_path", "filepath", "filename", "file_name", "file", "name")
_CONTENTS = ("content", "contents", "code", "text", "source", "body", "data")
_HOLDERS = ("files", "file", "program", "answer", "result", "output", "solution", "submission")
MAX_DEPTH = 4


def read_object(text: str) -> list[tuple[str, str]] | None:
    """The files in a JSON document; None when the text is none, or holds no files."""
    try:
        value = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None
    return _files(value, 0)


def find_object(text: str) -> list[tuple[str, str]] | None:
    """The files in the first JSON document within other text that holds any."""
    decoder = json.JSONDecoder(strict=False)
    start = 0
    for _ in range(20):
        places = [place for place in (text.find("{", start), text.find("[", start)) if place >= 0]
        if not places:
            return None
        start = min(places)
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            start += 1
            continue
        if found := _files(value, 0):
            return found
        start = end
    return None


def _files(value: Any, depth: int) -> list[tuple[str, str]] | None:
    if depth > MAX_DEPTH:
        return None
    if isinstance(value, list):
        return _listed(value)
    if not isinstance(value, dict):
        return None
    for holder in _HOLDERS:
        if isinstance(value.get(holder), dict | list) and (found := _files(value[holder], depth + 1)):
            return found
    if (one := _entry(value)) is not None:
        return [one]
    found = [(path, text) for path, part in value.items() if (text := _content(part)) is not None and _is_path(path)]
    return found if found and len(found) == len(value) else _mapped(value)


def _mapped(value: dict[str, Any]) -> list[tuple[str, str]] | None:
    """Paths to objects with the content in them."""
    found = []
    for path, part in value.items():
        inner = part if isinstance(part, dict) else {}
        text = next((text for key in _CONTENTS if (text := _content(inner.get(key))) is not None), None)
        if text is None or not _is_path(path):
            return None
        found.append((path, text))
    return found or None


def _listed(values: list[Any]) -> list[tuple[str, str]] | None:
    found = [_entry(value) for value in values if isinstance(value, dict)]
    if not found or len(found) < len(values) or None in found:
        return None
    return [one for one in found if one is not None]


def _entry(value: dict[str, Any]) -> tuple[str, str] | None:
    path = next((value[key] for key in _PATHS if isinstance(value.get(key), str)), None)
    text = next((text for key in _CONTENTS if (text := _content(value.get(key))) is not None), None)
    return (path, text) if path is not None and text is not None else None


def _content(value: Any) -> str | None:
    """Text, or a list of lines."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(isinstance(line, str) for line in value):
        return "\n".join(line.removesuffix("\n") for line in value) + "\n"
    return None


def _is_path(text: str) -> bool:
    return whole_path(text) is not None
