"""Messages between a harness and the agent of a workspace: a JSON head and raw bytes behind it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from .frames import LENGTH, Unframer, framed, length_of

MAX_FRAME = 256 << 20
"""The most a harness sends at once."""
MAX_ANSWER = 80 << 20
"""The most an agent answers: whatever is announced beyond it is not believed."""


def packed(head: Mapping[str, Any], body: bytes = b"") -> bytes:
    text = json.dumps(head).encode()
    return framed(b"".join((framed(text), body)))


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


class Unpacker:
    """Takes bytes as they come and gives whole messages."""

    def __init__(self, limit: int = MAX_FRAME) -> None:
        self._unframer = Unframer(limit)

    def feed(self, data: bytes) -> Iterator[tuple[dict[str, Any], bytes]]:
        """Raises FrameTooLargeError, and ValueError where a message has no readable head."""
        for message in self._unframer.feed(data):
            if len(message) < LENGTH.size:
                raise ValueError("a message without a head")
            end = LENGTH.size + length_of(message[: LENGTH.size], len(message) - LENGTH.size)
            yield json.loads(message[LENGTH.size : end]), message[end:]
