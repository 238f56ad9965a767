"""HTTP/1.1 answers out of bytes as they come in: no network, no clock."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

MAX_HEAD_BYTES = 64 * 1024
MAX_CHUNK_LINE_BYTES = 4096
BODILESS = frozenset({204, 304})
COMPRESSIONS = frozenset({"gzip", "x-gzip", "deflate", "br", "zstd", "compress", "x-compress"})
MAX_DIGITS = 18

_STATUS = re.compile(r"HTTP/1\.([01]) ([1-5]\d\d)(?: |\Z)", re.ASCII)
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_CHUNK_SIZE = re.compile(rb"([0-9a-fA-F]{1,15})[ \t]*(?:;|\Z)")


class MalformedAnswerError(Exception):
    """What came is not a whole answer; says why."""


class BodyTooLargeError(Exception):
    """The body of an answer with this status is larger than anything that is accepted."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class AnswerParser:
    """Takes what a connection receives until one answer is whole.

    Afterwards `status`, `headers` (names in lower case) and `body` are there, `is_reusable` says whether the
    connection may carry another request, and `seconds` is what whoever asked has measured.
    """

    __slots__ = ("_begun", "_chunks", "_has_head", "_is_bodiless", "_largest", "_left", "_parts", "_size", "headers",
                 "is_reusable", "seconds", "status")  # fmt: skip

    def __init__(self, largest: int, *, is_bodiless: bool = False) -> None:
        self.status = 0
        self.headers: Mapping[str, str] = {}
        self.is_reusable = False
        self.seconds = 0.0
        self._largest = largest
        self._is_bodiless = is_bodiless
        self._begun = b""
        self._has_head = False
        self._left: int | None = None
        self._chunks: Chunks | None = None
        self._parts: list[bytes] = []
        self._size = 0

    @property
    def body(self) -> bytes:
        return self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)

    def feed(self, data: bytes) -> bool:
        """Take some more; True once the answer is whole."""
        while not self._has_head:
            data = self._begun + data if self._begun else data
            end = data.find(b"\r\n\r\n")
            if end > MAX_HEAD_BYTES or (end < 0 and len(data) > MAX_HEAD_BYTES):
                raise MalformedAnswerError(f"its head is longer than {MAX_HEAD_BYTES // 1024} KiB")
            if end < 0:
                self._begun = data
                return False
            self._begun = b""
            self._read_head(data[:end])
            data = data[end + 4 :]
        return self._feed_body(data)

    def end(self, *, is_announced: bool = True) -> None:
        """The connection has ended: so has an answer of no stated length, if that was the server's doing."""
        if not self._has_head or self._left is not None or self._chunks is not None or not is_announced:
            raise MalformedAnswerError("it was closed before the answer was complete")

    def _feed_body(self, data: bytes) -> bool:
        if self._chunks is not None:
            whole, rest = self._chunks.feed(data, self._keep)
            self.is_reusable = self.is_reusable and not rest
            return whole
        if self._left is None:
            self._keep(data)
            return False
        if len(data) > self._left:
            # More than was announced: whatever it is, it answers nothing that will be asked.
            data, self.is_reusable = data[: self._left], False
        self._keep(data)
        self._left -= len(data)
        return self._left == 0

    def _keep(self, data: bytes) -> None:
        if data:
            self._size += len(data)
            if self._size > self._largest:
                raise BodyTooLargeError(self.status)
            self._parts.append(data)

    def _read_head(self, head: bytes) -> None:
        first, *lines = head.decode("latin-1").split("\r\n")
        found = _STATUS.match(first)
        if found is None or head.count(b"\n") != len(lines):
            raise MalformedAnswerError("it sent something other than HTTP")
        status = int(found[2])
        if status < 200:
            if status == 101:
                raise MalformedAnswerError("it changed the protocol unasked")
            return  # The real answer is still to come.
        self.status, self.headers, self._has_head = status, read_headers(lines), True
        connection = self.headers.get("connection")
        self.is_reusable = found[1] == "1" and (connection is None or not _names(connection, "close"))
        self._frame()

    def _frame(self) -> None:
        """Find out where the body ends."""
        headers = self.headers
        length, coding = headers.get("content-length"), headers.get("transfer-encoding")
        if self._is_bodiless or self.status in BODILESS:
            self._left = 0
        elif coding is not None:
            if coding.lower() != "chunked":
                raise MalformedAnswerError("its transfer encoding is not known")
            self._chunks = Chunks()
            self.is_reusable = self.is_reusable and length is None
        elif length is not None:
            self._left = _length(length)
            if self._left > self._largest:
                raise BodyTooLargeError(self.status)
        else:
            self.is_reusable = False
        # Other words are found there as well, "utf-8" for one, and mean that it is as it is.
        encoding = headers.get("content-encoding")
        if encoding is not None and self._left != 0 and any(_names(encoding, name) for name in COMPRESSIONS):
            raise MalformedAnswerError("its content is compressed, which was not asked for")


class Chunks:
    """Takes the wrapping off a body that comes in chunks."""

    __slots__ = ("_begun", "_is_trailer", "_left", "_trailer_size")

    def __init__(self) -> None:
        self._begun = b""
        self._left = 0
        """Of this chunk, the line break after it included."""
        self._is_trailer = False
        self._trailer_size = 0

    def feed(self, data: bytes, keep: Callable[[bytes], None]) -> tuple[bool, bytes]:
        """Hand over what is content; gives whether the body is whole, and what follows it."""
        data = self._begun + data
        at = 0
        while True:
            if self._left:
                at = self._inside(data, at, keep)
                if self._left:
                    self._begun = data[at:]
                    return False, b""
            end = data.find(b"\r\n", at)
            if end < 0 or end - at > MAX_CHUNK_LINE_BYTES:
                if len(data) - at > MAX_CHUNK_LINE_BYTES:
                    raise MalformedAnswerError("one of its chunks has no readable size")
                self._begun = data[at:]
                return False, b""
            line, at = data[at:end], end + 2
            if self._is_trailer:
                if not line:
                    return True, data[at:]
                self._trailer_size += len(line)
                if self._trailer_size > MAX_HEAD_BYTES:
                    raise MalformedAnswerError("its trailer is too long")
            else:
                self._begin(line)

    def _begin(self, line: bytes) -> None:
        found = _CHUNK_SIZE.match(line)
        if found is None:
            raise MalformedAnswerError("one of its chunks has no readable size")
        size = int(found[1], 16)
        self._is_trailer = size == 0
        self._left = size + 2 if size else 0

    def _inside(self, data: bytes, at: int, keep: Callable[[bytes], None]) -> int:
        """Hand over what there is of the chunk, and step over the line break that must follow it."""
        content = data[at : at + max(0, self._left - 2)]
        keep(content)
        at += len(content)
        self._left -= len(content)
        if self._left == 2 and len(data) - at >= 2:
            if data[at : at + 2] != b"\r\n":
                raise MalformedAnswerError("one of its chunks is longer than announced")
            self._left = 0
            at += 2
        return at


def read_headers(lines: list[str]) -> dict[str, str]:
    """By name in lower case; what a name is given several times is joined by commas."""
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or _NAME.fullmatch(name) is None:
            raise MalformedAnswerError("one of its headers is malformed")
        name, value = name.lower(), value.strip(" \t")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


def _length(text: str) -> int:
    """A length that is said twice is one length, two different ones are none."""
    said = {part.strip() for part in text.split(",")}
    number = said.pop()
    if said or not (number.isascii() and number.isdigit()) or len(number) > MAX_DIGITS:
        raise MalformedAnswerError("its length is not a number")
    return int(number)


def _names(header: str, token: str) -> bool:
    return any(part.strip() == token for part in header.lower().split(","))
