"""HTTP/1.1 answers out of bytes as they come in: no network, no clock.

llhttp (through httptools) reads the bytes, strictly. What it does not limit is limited here: sizes, versions, codings.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, ClassVar

from httptools import HttpParserCallbackError, HttpParserError, HttpParserUpgrade, HttpResponseParser

if TYPE_CHECKING:
    from proctor.models.connections import HttpConnection

MAX_HEAD_BYTES = 64 * 1024
"""Of headers, of trailers, and of anything else that is not content, in a row."""
GZIP = frozenset({"gzip", "x-gzip"})
COMPRESSIONS = GZIP | {"deflate", "br", "zstd", "compress", "x-compress"}
VERSIONS = frozenset({"1.0", "1.1"})

_GZIP_WINDOW = 16 + zlib.MAX_WBITS


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

    TAKES_GZIP: ClassVar[bool] = True
    on_status: ClassVar[None] = None
    on_chunk_header: ClassVar[None] = None
    on_chunk_complete: ClassVar[None] = None
    """Of no interest, and looked for by the reader: what is not there at all takes it an exception each."""

    __slots__ = (
        "_decompressor", "_ends_with_connection", "_has_body", "_has_head", "_head_size", "_is_whole", "_largest",
        "_parts", "_reader", "_size", "_without_content", "headers", "is_reusable", "seconds", "status",
    )  # fmt: skip

    def __init__(self, largest: int) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.is_reusable = False
        self.seconds = 0.0
        self._largest = largest
        self._has_body = False
        self._has_head = False
        self._head_size = 0
        self._is_whole = False
        self._ends_with_connection = False
        self._without_content = 0
        self._decompressor: zlib._Decompress | None = None
        self._parts: list[bytes] = []
        self._size = 0
        self._reader: HttpResponseParser | None = HttpResponseParser(self)

    def begin(self, connection: HttpConnection) -> None:
        """The request is about to be sent on this connection."""

    @property
    def body(self) -> bytes:
        return self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)

    def feed(self, data: bytes) -> bool:
        """Take some more; True once the answer is whole."""
        if self._reader is None:
            raise MalformedAnswerError("it went on after the answer was complete")
        size = self._size
        try:
            self._reader.feed_data(data)
        except HttpParserUpgrade:
            raise MalformedAnswerError("it changed the protocol unasked") from None
        except HttpParserError as error:
            self._refuse_unless_whole(error)
        if self._is_whole:
            # It holds this object as well: neither would be freed before the next search for cycles.
            self._reader = None
            return True
        self._without_content = self._without_content + len(data) if size == self._size else 0
        if self._without_content > MAX_HEAD_BYTES:
            raise MalformedAnswerError(f"it sent more than {MAX_HEAD_BYTES // 1024} KiB around its content")
        return False

    def end(self, *, is_announced: bool = True) -> None:
        """The connection has ended: so has an answer of no stated length, if that was the server's doing."""
        if not self._ends_with_connection or not is_announced:
            raise MalformedAnswerError("it was closed before the answer was complete")
        self._end_body()

    def _refuse_unless_whole(self, error: HttpParserError) -> None:
        """Whatever follows an answer, it answers nothing that will be asked."""
        if self._is_whole:
            self.is_reusable = False
        elif isinstance(error, HttpParserCallbackError) and error.__context__ is not None:
            raise error.__context__ from None
        elif self._has_head:
            raise MalformedAnswerError(f"it did not keep to HTTP: {error}") from None
        else:
            raise MalformedAnswerError(f"it sent something other than HTTP: {error}") from None

    # What the reader calls.

    def on_message_begin(self) -> None:
        if self._is_whole:
            raise MalformedAnswerError("it went on after the answer was complete")

    def on_header(self, name: bytes, value: bytes) -> None:
        self._head_size += len(name) + len(value)
        if self._head_size > MAX_HEAD_BYTES:
            raise MalformedAnswerError(f"its head is longer than {MAX_HEAD_BYTES // 1024} KiB")
        if not self._has_head:  # What a trailer says comes too late to be heeded.
            key, text = name.decode("latin-1").lower(), value.decode("latin-1").strip(" \t")
            self.headers[key] = f"{self.headers[key]}, {text}" if key in self.headers else text

    def on_headers_complete(self) -> None:
        reader = self._reader
        if reader is None or self._is_whole:
            raise MalformedAnswerError("it went on after the answer was complete")
        self.status = reader.get_status_code()
        if reader.get_http_version() not in VERSIONS or not 100 <= self.status < 600 or self.status == 101:
            raise MalformedAnswerError("it sent something other than HTTP/1.1")
        if self.status < 200:  # The real answer is still to come.
            self.headers = {}
            return
        self._has_head = True
        self._head_size = 0
        self.is_reusable = reader.should_keep_alive()
        self._begin_body()

    def on_body(self, data: bytes) -> None:
        self._has_body = True
        if self._decompressor is not None:
            data = self._decompress(self._decompressor, data)
        self._size += len(data)
        if self._size > self._largest:
            raise BodyTooLargeError(self.status)
        self._keep(data)

    def on_message_complete(self) -> None:
        if self._has_head:
            self._end_body()
            self._is_whole = True

    def _keep(self, data: bytes) -> None:
        self._parts.append(data)

    def _begin_body(self) -> None:
        headers = self.headers
        length, coding = headers.get("content-length"), headers.get("transfer-encoding")
        if coding is not None and coding.lower() != "chunked":
            raise MalformedAnswerError("its transfer encoding is not known")
        if length is not None and int(length) > self._largest:
            raise BodyTooLargeError(self.status)
        self._ends_with_connection = length is None and coding is None
        encoding = headers.get("content-encoding")
        if encoding is not None:
            self._begin_decompression(encoding.lower())

    def _begin_decompression(self, encoding: str) -> None:
        """Other words are found there as well, "utf-8" for one, and mean that it is as it is."""
        if self.TAKES_GZIP and encoding in GZIP:
            self._decompressor = zlib.decompressobj(_GZIP_WINDOW)
        elif any(part.strip() in COMPRESSIONS for part in encoding.split(",")):
            raise MalformedAnswerError("its content is compressed in a way that was not asked for")

    def _decompress(self, decompressor: zlib._Decompress, data: bytes) -> bytes:
        """At most one byte more than is accepted, however much it would be."""
        try:
            content = decompressor.decompress(data, self._largest - self._size + 1)
        except zlib.error:
            raise MalformedAnswerError("its compressed content is damaged") from None
        if decompressor.unused_data:
            raise MalformedAnswerError("something follows its compressed content")
        return content

    def _end_body(self) -> None:
        is_wanted = self._has_body or (self.status < 300 and self.status != 204)  # a refusal may come without words
        if is_wanted and self._decompressor is not None and not self._decompressor.eof:
            raise MalformedAnswerError("its compressed content is cut off")
