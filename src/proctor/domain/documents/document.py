"""What all documents have in common, and the one place where they become JSON."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import orjson
from msgspec import Struct, to_builtins

from proctor.domain.json_value import plain
from proctor.domain.text import visible_json


class Document(Struct, frozen=True, omit_defaults=True):
    """A document of `--json`, or a part of one.

    A field without a default is always there, as null where it is not known. One with a default is left out where it
    has nothing to say; those that may be left out and may be null have the default UNSET.
    """

    @property
    def document(self) -> dict[str, Any]:
        """All that `--json` shows, as plain values."""
        found: dict[str, Any] = plain_values(self)
        return found


def plain_values(value: object) -> Any:
    """The value as it is read back from JSON."""
    return orjson.loads(json_bytes(value))


def json_text(value: object) -> str:
    """The value as people read JSON: indented, and without characters that steer a terminal."""
    return visible_json(json_bytes(value, orjson.OPT_INDENT_2).decode())


def json_bytes(value: object, options: int = 0) -> bytes:
    """The value as JSON; `options` are those of orjson."""
    # A date is written as Python does, not with a Z instead of its offset.
    plain_parts = to_builtins(value, builtin_types=(datetime,), enc_hook=plain)
    return orjson.dumps(plain_parts, option=options | orjson.OPT_NON_STR_KEYS, default=plain)
