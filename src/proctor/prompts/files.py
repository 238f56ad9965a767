"""Files in a prompt: known by what is in them, whatever they are called."""

from __future__ import annotations

from proctor.domain.message import DocumentPart, Image, Text

MAX_FILE_BYTES = 20 * 1024 * 1024
IMAGES = ("image/png", "image/jpeg", "image/webp")
PDF = "application/pdf"


def sniff(data: bytes) -> str | None:
    """The media type a file's own first bytes tell; what the sender claimed is not asked."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    return PDF if b"%PDF-" in data[:1024] else None


def too_large(name: str, size: int) -> str:
    return f"the file {name!r} has {size / 2**20:.1f} MB, over the limit of {MAX_FILE_BYTES >> 20} MB"


def part_of(data: bytes, name: str) -> Text | Image | DocumentPart:
    """What a file is to a model; raises ValueError for one that is too large or of no kind that models take."""
    if len(data) > MAX_FILE_BYTES:
        raise ValueError(too_large(name, len(data)))
    media_type = sniff(data)
    if media_type in IMAGES:
        return Image(data, media_type)
    if media_type == PDF:
        return DocumentPart(data, PDF, name)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if media_type is not None or "\0" in text:
        found = media_type or "neither of these nor text"
        raise ValueError(f"the file {name!r} must be a PNG, JPEG or WebP image, a PDF or text; it is {found}")
    text = text.removesuffix("\n")
    return Text(f'<file name="{name}">\n{text}\n</file>')
