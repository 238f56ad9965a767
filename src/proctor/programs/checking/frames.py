"""Length-prefixed JSON between the harness and its checker; bytes travel as base64."""

from __future__ import annotations

import base64
import json
import struct
from typing import Any

MAX_FRAME = 64 << 20
HEADER = struct.Struct(">I")


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return {"$bytes": base64.b64encode(value).decode("ascii")}
    raise TypeError(f"{type(value).__name__} cannot be sent")


def _bytes(data: dict[str, Any]) -> Any:
    return base64.b64decode(data["$bytes"]) if data.keys() == {"$bytes"} else data


def framed(message: Any) -> bytes:
    body = json.dumps(message, default=_plain, separators=(",", ":")).encode()
    return HEADER.pack(len(body)) + body


def unframed(body: bytes) -> Any:
    return json.loads(body, object_hook=_bytes)
