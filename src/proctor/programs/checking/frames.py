"""What the harness and its checker tell each other: JSON, in which bytes travel as base64."""

from __future__ import annotations

import base64
import json
from typing import Any

from proctor.sandboxes.inside.frames import framed

MAX_FRAME = 64 << 20


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return {"$bytes": base64.b64encode(value).decode("ascii")}
    raise TypeError(f"{type(value).__name__} cannot be sent")


def _bytes(data: dict[str, Any]) -> Any:
    return base64.b64decode(data["$bytes"]) if data.keys() == {"$bytes"} else data


def packed(message: Any) -> bytes:
    """The message in a frame of its own."""
    return framed(json.dumps(message, default=_plain, separators=(",", ":")).encode())


def unpacked(body: bytes) -> Any:
    return json.loads(body, object_hook=_bytes)
