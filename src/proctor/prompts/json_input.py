"""Inputs that are JSON: one text for prompts and stores, and its fields for templates."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any


class JsonObject(dict[str, Any]):
    """An object whose fields templates reach by name, and which they write as JSON."""

    def __str__(self) -> str:
        return write_json(self)


class JsonList(list[Any]):
    """A list that templates write as JSON."""

    def __str__(self) -> str:
        return write_json(self)


def write_json(value: Any) -> str:
    """Indented JSON; ValueError, TypeError or RecursionError where a value is not JSON."""
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)


@lru_cache(maxsize=16)
def read_json(text: str) -> Any:
    """What `write_json` wrote, for a template; several templates of one prompt read the same."""
    return _for_templates(json.loads(text))


def _for_templates(value: Any) -> Any:
    if isinstance(value, dict):
        return JsonObject({key: _for_templates(part) for key, part in value.items()})
    return JsonList(map(_for_templates, value)) if isinstance(value, list) else value
