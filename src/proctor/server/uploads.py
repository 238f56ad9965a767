"""Files as they come in: written to files without a name while they are read, so that nothing is left of half of one.

The limit is enforced while the body streams. A body is the file itself, or `multipart/form-data` with parts `file`.
"""

from __future__ import annotations

import asyncio
import logging
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, contextmanager
from email.message import Message
from typing import IO, Any, TypeVar

from msgspec import Struct
from starlette.requests import ClientDisconnect, Request

from proctor.server.bodies import too_large
from proctor.server.problems import ProblemError

T = TypeVar("T")
MAX_UPLOADS = 32
"""At once in one process."""
UPLOADS_A_USER = 8
"""Of these, for one user: who sends slowly keeps nobody else from sending."""
LOOKING = 2
"""At once looked into; the others wait."""
SILENT_SECONDS = 30.0
IN_MEMORY_BYTES = 1024 * 1024
BINARY = {"type": "string", "format": "binary"}
MULTIPART = "multipart/form-data"
FILE = "file"
HEADER_BYTES = 8_192
FORM_OVERHEAD_BYTES = 4_096
"""Of a part, beside its content."""
logging.getLogger("python_multipart").setLevel(logging.ERROR)  # what strangers send wrong is answered, not logged


def upload_body(description: str, *, is_single: bool = False) -> dict[str, Any]:
    """What OpenAPI is told of a body that is a file itself, or a form with one part or several `file`."""
    file = BINARY if is_single else {"type": "array", "items": BINARY}
    form = {"type": "object", "properties": {"file": file}, "required": ["file"]}
    content = {"application/octet-stream": {"schema": BINARY}, MULTIPART: {"schema": form}}
    return {"requestBody": {"required": True, "description": description, "content": content}}


class UploadTurns:
    """How many may send files at once, and how many files are looked into at once."""

    def __init__(self) -> None:
        self._open: Counter[str | None] = Counter()
        self._looking = asyncio.Semaphore(LOOKING)

    @contextmanager
    def one(self, user: str | None) -> Iterator[None]:
        """Without accounts there is one user, None, who may have all of them."""
        if self._open.total() >= MAX_UPLOADS or (user is not None and self._open[user] >= UPLOADS_A_USER):
            counts = f"{self._open.total()} files are being uploaded, {self._open[user]} of them by you"
            detail = f"{counts}. Try again in a moment."
            raise ProblemError(429, "too-many", detail, headers={"Retry-After": "5", "Connection": "close"})
        self._open[user] += 1
        try:
            yield
        finally:
            self._open[user] -= 1
            if not self._open[user]:
                del self._open[user]

    async def look(self, work: Callable[[], T]) -> T:
        """Do it in a thread, when it is its turn."""
        async with self._looking:
            return await asyncio.to_thread(work)


class ReceivedFile(Struct, frozen=True):
    name: str
    """As it was sent; empty where it was not."""
    content: IO[bytes]


class Received:
    """The files of one request, and the other fields of its form; close it to let go of them."""

    def __init__(self) -> None:
        self.files: list[ReceivedFile] = []
        self.fields: dict[str, str] = {}
        self._stack = ExitStack()

    def open(self, name: str) -> IO[bytes]:
        # Beyond the first bytes it is on disk, without a name: however this process ends, nothing is left.
        made = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY_BYTES, prefix="proctor-")  # noqa: SIM115
        file: IO[bytes] = self._stack.enter_context(made)
        self.files.append(ReceivedFile(name, file))
        return file

    def close(self) -> None:
        self._stack.close()


async def receive(request: Request, *, most_bytes: int, most_files: int = 1) -> Received:
    """The files of a request; 413 as soon as there are too many bytes, 422 for too many files. The caller closes it."""
    most = most_bytes + (FORM_OVERHEAD_BYTES * (most_files + 10) if _is_form(request) else 0)
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced) > most:
        raise too_large(most_bytes)
    received = Received()
    try:
        if _is_form(request):
            await _receive_form(request, received, most_bytes, most_files)
        else:
            await _receive_body(request, received, most_bytes)
    except BaseException:
        received.close()
        raise
    return received


def _is_form(request: Request) -> bool:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower() == MULTIPART


async def _parts(request: Request) -> AsyncIterator[bytes]:
    stream = aiter(request.stream())
    while True:
        try:
            async with asyncio.timeout(SILENT_SECONDS):
                part = await anext(stream)
        except StopAsyncIteration:
            return
        except TimeoutError:
            detail = f"Nothing came for {SILENT_SECONDS:g} s, and the body is not complete."
            raise ProblemError(400, "incomplete", detail, headers={"Connection": "close"}) from None
        except ClientDisconnect:
            raise ProblemError(400, "incomplete", "The request ended before its body was complete.") from None
        yield part


async def _receive_body(request: Request, received: Received, most_bytes: int) -> None:
    file, size = received.open(""), 0
    async for part in _parts(request):
        size += len(part)
        if size > most_bytes:
            raise too_large(most_bytes)
        file.write(part)


async def _receive_form(request: Request, received: Received, most_bytes: int, most_files: int) -> None:
    from python_multipart.exceptions import FormParserError
    from python_multipart.multipart import MultipartParser, parse_options_header

    _, options = parse_options_header(request.headers.get("content-type", ""))
    boundary = options.get(b"boundary")
    if not boundary or len(boundary) > 200:
        raise ProblemError(400, "not-a-form", "A form says its boundary in Content-Type.")
    form = _Form(received, most_bytes, most_files)
    parser = MultipartParser(boundary, form.callbacks, max_header_size=HEADER_BYTES)  # type: ignore[arg-type]
    try:
        async for part in _parts(request):
            parser.write(part)
        parser.finalize()
    except FormParserError as error:
        raise ProblemError(400, "not-a-form", f"The form cannot be read: {error}.") from None
    if not form.is_whole:
        raise ProblemError(400, "incomplete", "The form ends before its last part.")


class _Form:
    """Writes the parts of a form where they belong, as they are parsed."""

    def __init__(self, received: Received, most_bytes: int, most_files: int) -> None:
        self._received, self._most_bytes, self._most_files = received, most_bytes, most_files
        self._size = 0
        self._header, self._value = b"", b""
        self._headers: dict[str, str] = {}
        self._file: IO[bytes] | None = None
        self._field, self._text = "", b""
        self.is_whole = False
        self.callbacks: dict[str, Callable[..., None]] = {
            "on_part_begin": self._begin,
            "on_header_field": self._on_header,
            "on_header_value": self._on_value,
            "on_header_end": self._on_header_end,
            "on_headers_finished": self._on_headers,
            "on_part_data": self._on_data,
            "on_part_end": self._on_end,
            "on_end": self._on_whole,
        }

    def _begin(self) -> None:
        self._headers, self._header, self._value, self._file = {}, b"", b"", None

    def _on_header(self, data: bytes, start: int, end: int) -> None:
        self._header += data[start:end]

    def _on_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _on_header_end(self) -> None:
        self._headers[self._header.decode("latin-1").lower()] = self._value.decode("utf-8", "replace")
        self._header, self._value = b"", b""

    def _on_headers(self) -> None:
        field, name = _disposition(self._headers.get("content-disposition", ""))
        if name is None:
            if field == FILE or len(self._received.fields) >= 10:
                raise ProblemError(422, "body", f"A part {field[:60]!r} without a file name cannot be taken.")
            self._field, self._text = field, b""
            return
        if field != FILE:
            raise ProblemError(422, "body", f"A file is sent as the field 'file', not {field[:60]!r}.")
        if len(self._received.files) >= self._most_files:
            raise ProblemError(422, "body", f"At most {self._most_files:,} files are taken in one request.")
        self._file = self._received.open(name)

    def _on_data(self, data: bytes, start: int, end: int) -> None:
        self._size += end - start
        if self._size > self._most_bytes:
            raise too_large(self._most_bytes)
        if self._file is not None:
            self._file.write(data[start:end])
            return
        self._text += data[start:end]
        if len(self._text) > FORM_OVERHEAD_BYTES:
            raise ProblemError(422, "body", f"The field {self._field[:60]!r} is too long.")

    def _on_end(self) -> None:
        if self._file is None:
            self._received.fields[self._field] = self._text.decode("utf-8", "replace")

    def _on_whole(self) -> None:
        self.is_whole = True


def _disposition(header: str) -> tuple[str, str | None]:
    """The field's name and the file's, None where it is no file."""
    message = Message()
    message["Content-Disposition"] = header.replace("\r", " ").replace("\n", " ")
    field = message.get_param("name", "", "content-disposition")
    name: Any = message.get_param("filename", None, "content-disposition")
    if isinstance(name, tuple):  # RFC 2231: charset, language, text
        name = name[2]
    return str(field), None if name is None else str(name)
