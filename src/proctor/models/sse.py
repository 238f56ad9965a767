"""Server-sent events: bytes in, cut anywhere; whole events out."""

from __future__ import annotations

from msgspec import Struct

BOM = b"\xef\xbb\xbf"


class Event(Struct, frozen=True):
    data: bytes
    """The data lines joined by line feeds, as bytes: a character is never cut."""
    name: str = ""


class EventParser:
    """Reassembles events exactly, however the network cut them; lines may end in LF, CR LF or CR."""

    __slots__ = ("_data", "_ends_with_cr", "_is_started", "_name", "_parts")

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._data: list[bytes] = []
        self._name = ""
        self._ends_with_cr = False
        self._is_started = False

    def feed(self, chunk: bytes) -> list[Event]:
        """The events completed by this chunk."""
        if self._ends_with_cr and chunk:
            # The line already ended at the CR; an LF that follows belongs to the same line break.
            self._ends_with_cr = False
            chunk = chunk.removeprefix(b"\n")
        if not chunk:
            return []
        self._ends_with_cr = chunk.endswith(b"\r")
        # Not by `in`, which tries the bytes as a number first: an exception is made and dropped for each chunk.
        if chunk.find(b"\r") >= 0:
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        lines = chunk.split(b"\n")
        if len(lines) == 1:
            self._parts.append(chunk)
            return []
        if self._parts:
            lines[0] = b"".join(self._parts) + lines[0]
        last = lines.pop()
        self._parts = [last] if last else []
        return self._read(lines)

    def finish(self) -> list[Event]:
        """What is left when the stream ends: an event whose last line break never came."""
        line, self._parts = b"".join(self._parts), []
        return self._read([line, b""])

    def _read(self, lines: list[bytes]) -> list[Event]:
        events = []
        for raw in lines:
            line = raw
            if not self._is_started:
                self._is_started = True
                line = line.removeprefix(BOM)
            if not line:
                if self._data:
                    events.append(Event(b"\n".join(self._data), self._name))
                    self._data = []
                self._name = ""
            elif line.startswith(b"data:"):
                self._data.append(line[6:] if line.startswith(b"data: ") else line[5:])
            elif line == b"data":
                self._data.append(b"")
            elif line.startswith(b"event:"):
                self._name = line[6:].removeprefix(b" ").decode("utf-8", "replace")
        return events
