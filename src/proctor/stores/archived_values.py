"""What a column may hold in an archive of a project: whatever was written here holds it, and all who read rely on it.

A value of another form would be met as an error by lists, by reports of the whole server and by workers, long after the
archive was imported.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import orjson
import sqlalchemy
from sqlalchemy import Boolean, Float, Integer

OBJECTS = frozenset(
    {"plan", "model_spec", "benchmark_spec", "options", "scorers", "tags", "body", "details", "description", "files",
     "request", "data", "more"}
)  # fmt: skip
NAMES = frozenset({"scorers", "tags", "files"})
"""Objects of texts."""
LISTS = frozenset({"metrics", "best"})
"""Of texts."""
JSON_COLUMNS = OBJECTS | LISTS | {"prompt"}
MAX_INTEGER = (1 << 63) - 1
MAX_SECONDS = 32_503_680_000.0
"""The year 3000."""
_NEVER_NEGATIVE = ("_bytes", "_pico_usd", "_tokens")
_SHARES = frozenset({("scores", "value"), ("scores", "covers"), ("runs", "progress")})


def is_storable(table: str, column: sqlalchemy.Column[Any], value: Any) -> bool:
    """Whether a program that writes rows of this table could have written the value."""
    name = str(column.name)
    if value is None:
        return bool(column.nullable)
    if isinstance(column.type, Boolean):
        return isinstance(value, bool)
    if isinstance(value, bool):
        return False
    if isinstance(column.type, Integer):  # BigInteger is one
        least = 0 if name.endswith(_NEVER_NEGATIVE) else -MAX_INTEGER
        return isinstance(value, int) and least <= value <= MAX_INTEGER
    if isinstance(column.type, Float):
        return isinstance(value, int | float) and _is_number(table, name, value)
    if not isinstance(value, str):
        return False
    if name == "at" or name.endswith("_at"):
        return _is_time(value)
    return name not in JSON_COLUMNS or _is_json(name, value)


def _is_number(table: str, name: str, value: float) -> bool:
    if (table, name) in _SHARES:
        return 0 <= value <= 1
    if name.endswith(("_at", "seconds")):
        return 0 <= value <= MAX_SECONDS
    return abs(value) <= MAX_INTEGER


def _is_time(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


def _is_json(name: str, text: str) -> bool:
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    if name in OBJECTS:
        return isinstance(found, dict) and (name not in NAMES or all(isinstance(one, str) for one in found.values()))
    if name in LISTS:
        return isinstance(found, list) and all(isinstance(one, str) for one in found)
    return True
