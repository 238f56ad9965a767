"""Values from outside, as JSON and every store take them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson
from msgspec import Struct
from msgspec.structs import asdict

from proctor.domain.text import shorten, storable

MAX_DEPTH = 100
"""How deep lists and mappings may be nested: what is below cannot be encoded by everybody."""
MAX_INTEGER = 2**63 - 1


def plain(value: Any) -> Any:
    """What JSON has no form for: values as objects, anything else as text."""
    return asdict(value) if isinstance(value, Struct) else str(value)


def storable_json(value: Any) -> Any:
    """The value if JSON can hold it as it is; else a copy in which what JSON cannot hold is told as text."""
    try:
        encoded = orjson.dumps(value, default=_encodable)
    except (TypeError, ValueError, RecursionError):
        return _storable_copy(value, 0)
    return value if b"\\u0000" not in encoded else _storable_copy(value, 0)


def _encodable(value: Any) -> Any:
    if isinstance(value, bytes):
        return None  # stores have a form of their own for it
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Struct):
        return asdict(value)
    raise TypeError


def _storable_copy(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return storable(str(value))
    if value is None or isinstance(value, bool | float | bytes):
        return value
    if isinstance(value, int):
        return int(value) if abs(value) <= MAX_INTEGER else f"{value:#x}"
    if depth == MAX_DEPTH:
        return f"{type(value).__name__}, nested too deeply to be kept"
    if isinstance(value, Struct):
        value = asdict(value)
    if isinstance(value, Mapping):
        return {_storable_key(key): _storable_copy(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_storable_copy(item, depth + 1) for item in value]
    return storable(shorten(_shown(value)))


def _storable_key(key: Any) -> str:
    return storable(key if isinstance(key, str) else shorten(_shown(key)))


def _shown(value: Any) -> str:
    try:
        return str(value)
    except Exception:  # noqa: BLE001 - somebody else's code
        return type(value).__name__
