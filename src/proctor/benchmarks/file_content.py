"""What an uploaded file is: told from its content alone, and looked into by a process with limits."""

from __future__ import annotations

import base64
import codecs
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Any

from msgspec import Struct

from proctor.domain.errors import UserError
from proctor.limited_process import LimitedProcess, WorkLimitError

START_BYTES = 8_192
PIECE_BYTES = 256 * 1024
MAX_INSPECTED_BYTES = 64_000_000
"""Of an image or a PDF, whatever the setting: it is decoded as a whole."""
IMAGES = ("image/png", "image/jpeg", "image/webp", "image/gif")
PDF = "application/pdf"
TEXT = "text/plain; charset=utf-8"
PDF_SECONDS = 30.0
IMAGE_SECONDS = 10.0
TAKEN = "Images (PNG, JPEG, WebP, GIF), PDFs and UTF-8 texts are taken."
_turns = threading.BoundedSemaphore(2)
"""Processes at once that look into files."""


class FileContentError(UserError):
    """A file whose content cannot be taken, and why."""


class FileTypeError(FileContentError):
    """Content of a kind that is not taken at all."""

    http_status = 415


class FileContent(Struct, frozen=True):
    kind: str
    """image, pdf or text."""
    media_type: str
    pages: Sequence[str] | None = None
    """The text of each page of a PDF."""
    outline: Sequence[tuple[str, int, int | None]] = ()
    """Title, level and page of each heading."""
    width: int | None = None
    height: int | None = None


def inspect(file: IO[bytes], name: str) -> FileContent:
    """What the file is; raises FileTypeError for what is not taken, FileContentError for what is broken or too much."""
    file.seek(0)
    start = file.read(START_BYTES)
    if not start:
        raise FileContentError(f"{name} is empty.")
    media_type = _sniffed(start, name)
    if media_type is None:
        _refuse_binary(file, name)
        return FileContent("text", TEXT)
    file.seek(0)
    content = file.read(MAX_INSPECTED_BYTES + 1)
    if len(content) > MAX_INSPECTED_BYTES:
        raise FileContentError(f"{name} has more than {MAX_INSPECTED_BYTES:,} bytes, the most of an image or a PDF.")
    if media_type == PDF:
        found = _ask("proctor.benchmarks.pdf_worker", "reads PDFs", PDF_SECONDS, content, name)
        return FileContent(
            "pdf", PDF, found["pages"], [(title, level, page) for title, level, page in found["outline"]]
        )
    found = _ask("proctor.benchmarks.image_worker", "decodes images", IMAGE_SECONDS, content, name)
    if found["media_type"] != media_type:
        raise FileTypeError(f"{name} begins as {media_type} and is {found['media_type']}.")
    return FileContent("image", media_type, width=found["width"], height=found["height"])


def _sniffed(start: bytes, name: str) -> str | None:
    """The media type that the first bytes tell, of those that are taken; None for what could be text."""
    import filetype  # type: ignore[import-untyped]

    found = filetype.guess(start)
    if found is None:
        return None
    if found.mime in (*IMAGES, PDF):
        return str(found.mime)
    raise FileTypeError(f"{name} is {found.mime}, which is not taken. {TAKEN}")


def _refuse_binary(file: IO[bytes], name: str) -> None:
    """Text is UTF-8 without the characters that no text has."""
    refusal = FileTypeError(f"{name} is neither an image nor a PDF, and no UTF-8 text. {TAKEN}")
    file.seek(0)
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for piece in _pieces(file):
            if b"\0" in piece:
                raise refusal
            decoder.decode(piece)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        raise refusal from None


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    while piece := file.read(PIECE_BYTES):
        yield piece


def _ask(module: str, purpose: str, cpu_seconds: float, content: bytes, name: str) -> Mapping[str, Any]:
    """A process for this file alone: whatever it does to it, no other file meets that."""
    with _turns:
        process = LimitedProcess(module, purpose, cpu_seconds)
        try:
            reply = process.ask(base64.b64encode(content).decode())
        except WorkLimitError as limit:
            raise FileContentError(f"{name} cannot be taken: {limit}.") from None
        finally:
            process.close()
    if "problem" in reply:
        raise FileContentError(f"{name} cannot be taken: {reply['problem']}.")
    return reply
