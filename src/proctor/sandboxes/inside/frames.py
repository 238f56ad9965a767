"""Length-prefixed messages over descriptors."""

from __future__ import annotations

import os
import struct

MAX_FRAME = 32 << 20


class ChannelClosedError(Exception):
    """The other side is gone."""


class FrameTooLargeError(Exception):
    """The other side announced more than anyone may send."""


def read_exactly(fd: int, count: int) -> bytes:
    first = os.read(fd, min(count, 1 << 20)) if count else b""
    if len(first) == count:
        return first
    parts, missing = [first], count - len(first)
    while missing:
        part = os.read(fd, min(missing, 1 << 20)) if parts[-1] else b""
        if not part:
            raise ChannelClosedError
        parts.append(part)
        missing -= len(part)
    return b"".join(parts)


def write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def framed(body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + body


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
            (length,) = struct.unpack(">I", read_exactly(self.incoming, 4))
            if length > self.limit:
                raise FrameTooLargeError(f"{length} bytes announced, {self.limit} allowed")
            return read_exactly(self.incoming, length)
        except OSError as error:
            raise ChannelClosedError from error
