"""Messages between a harness and the agent of a workspace: a JSON head and raw bytes behind it."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping
from typing import Any

MAX_FRAME = 256 << 20
"""The most a harness sends at once."""
MAX_ANSWER = 80 << 20
"""The most an agent answers: whatever is announced beyond it is not believed."""
_HEAD = struct.Struct(">II")


def packed(head: Mapping[str, Any], body: bytes = b"") -> bytes:
    text = json.dumps(head).encode()
    return b"".join((_HEAD.pack(len(text) + len(body), len(text)), text, body))


def joined(files: Mapping[str, bytes]) -> tuple[list[list[Any]], bytes]:
    """Names and lengths for the head, the contents for the body."""
    return [[name, len(data)] for name, data in files.items()], b"".join(files.values())


def parted(names: list[list[Any]], body: bytes) -> dict[str, bytes]:
    """The opposite of `joined`."""
    found, start = {}, 0
    for name, length in names:
        found[name] = body[start : start + length]
        start += length
    return found


class AgentFrameTooLargeError(Exception):
    """Somebody announced more than anyone may send."""


class Unpacker:
    """Takes bytes as they come and gives whole messages."""

    def __init__(self, limit: int = MAX_FRAME) -> None:
        self._limit = limit
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[tuple[dict[str, Any], bytes]]:
        self._buffer += data
        while len(self._buffer) >= _HEAD.size:
            length, head = _HEAD.unpack_from(self._buffer)
            if length > self._limit or head > length:
                raise AgentFrameTooLargeError(f"{length} bytes announced, {self._limit} allowed")
            end = _HEAD.size + length
            if len(self._buffer) < end:
                return
            middle = _HEAD.size + head
            message = json.loads(bytes(self._buffer[_HEAD.size : middle]))
            body = bytes(self._buffer[middle:end])
            del self._buffer[:end]
            yield message, body
