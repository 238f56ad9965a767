"""Length-prefixed messages, the one form in which processes here talk to each other. Standard library only."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterator
from functools import partial
from typing import Protocol

MAX_FRAME = 32 << 20
"""What is accepted from a side that is not trusted."""
MAX_LENGTH = (1 << 32) - 1
"""What a length can say."""
LENGTH = struct.Struct(">I")
ENDING = b"{}"
"""What a supervisor says of a run that computes no more, before it says how the run ended."""


class ChannelClosedError(Exception):
    """The other side is gone."""


class FrameTooLargeError(Exception):
    """The other side announced more than anyone may send."""


class ExactReader(Protocol):
    """What asyncio's StreamReader has; its module is not loaded in processes that do without it."""

    async def readexactly(self, n: int, /) -> bytes: ...


def framed(body: bytes) -> bytes:
    return LENGTH.pack(len(body)) + body


def length_of(head: bytes, limit: int) -> int:
    """The length that a frame announces; raises FrameTooLargeError."""
    (length,) = LENGTH.unpack(head)
    if length > limit:
        raise FrameTooLargeError(f"{length} bytes announced, {limit} allowed")
    return int(length)


async def read_frame(reader: ExactReader, limit: int = MAX_FRAME) -> bytes:
    """The next message; raises what the reader raises when it ends, and FrameTooLargeError."""
    return await reader.readexactly(length_of(await reader.readexactly(LENGTH.size), limit))


class Unframer:
    """Takes bytes as they come and gives whole messages."""

    def __init__(self, limit: int = MAX_FRAME) -> None:
        self._limit = limit
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[bytes]:
        self._buffer += data
        while len(self._buffer) >= LENGTH.size:
            end = LENGTH.size + length_of(bytes(self._buffer[: LENGTH.size]), self._limit)
            if len(self._buffer) < end:
                return
            message = bytes(memoryview(self._buffer)[LENGTH.size : end])
            del self._buffer[:end]
            yield message


def receive_frame(read: Callable[[int], bytes], limit: int = MAX_FRAME) -> bytes:
    """The next message, by a function that gives at most so many bytes, and none at the end."""
    return _read_exactly(read, length_of(_read_exactly(read, LENGTH.size), limit))


def _read_exactly(read: Callable[[int], bytes], count: int) -> bytes:
    first = read(min(count, 1 << 20)) if count else b""
    if len(first) == count:
        return first
    parts, missing = [first], count - len(first)
    while missing:
        part = read(min(missing, 1 << 20)) if parts[-1] else b""
        if not part:
            raise ChannelClosedError
        parts.append(part)
        missing -= len(part)
    return b"".join(parts)


def write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


class Channel:
    """Frames in both directions, over one descriptor or two."""

    def __init__(self, incoming: int, outgoing: int | None = None, *, limit: int = MAX_FRAME) -> None:
        self.incoming = incoming
        self.outgoing = incoming if outgoing is None else outgoing
        self.limit = limit

    def send(self, frame: bytes) -> None:
        try:
            write_all(self.outgoing, framed(frame))
        except OSError as error:
            raise ChannelClosedError from error

    def receive(self) -> bytes:
        try:
            return receive_frame(partial(os.read, self.incoming), self.limit)
        except OSError as error:
            raise ChannelClosedError from error
