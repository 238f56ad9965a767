"""The text of a PDF, read on this machine."""

from __future__ import annotations

import threading
from collections import OrderedDict
from hashlib import blake2b
from typing import Any

from msgspec import Struct

from proctor.domain.errors import ModelUnavailableError, RequestRejectedError

# PDFium keeps global state: two threads in it at once crash the process.
_one_at_a_time = threading.Lock()


# Asked again in every epoch and by every model; kept by digest, because the files themselves are large.
_known: OrderedDict[bytes, PdfContent] = OrderedDict()
MAX_KNOWN = 64


class PdfContent(Struct, frozen=True):
    text: str
    """Title, outline and pages."""
    pages: int
    unseen_characters: int
    """Those beyond the edges of their pages: not part of the text, but whoever else reads the file may find them."""


def read_pdf(data: bytes, name: str, model: str) -> str:
    """Title, outline and pages as text; raises when the file is locked, broken or without pages."""
    return pdf_content(data, name, model).text


def pdf_content(data: bytes, name: str, model: str) -> PdfContent:
    """What `read_pdf` gives, and how much of it there is; raises what `read_pdf` raises."""
    key = blake2b(data + name.encode(), digest_size=16).digest()
    with _one_at_a_time:
        if key not in _known:
            _known[key] = _read(data, name, model)
            if len(_known) > MAX_KNOWN:
                _known.popitem(last=False)
        return _known[key]


def _read(data: bytes, name: str, model: str) -> PdfContent:
    try:
        import pypdfium2 as pdfium  # type: ignore[import-untyped]
    except ImportError:
        raise ModelUnavailableError(f"{model}: documents need the package pypdfium2: pip install pypdfium2") from None
    try:
        document = pdfium.PdfDocument(data)
    except pdfium.PdfiumError as error:
        why = "needs a password" if "password" in str(error).lower() else "is broken or not a PDF"
        raise RequestRejectedError(f"{model}: the document {name!r} {why}") from None
    try:
        return _content(document, name, model)
    except pdfium.PdfiumError as error:
        raise RequestRejectedError(f"{model}: the document {name!r} cannot be read ({error})") from None
    finally:
        document.close()


def _content(document: Any, name: str, model: str) -> PdfContent:
    if len(document) == 0:
        raise RequestRejectedError(f"{model}: the document {name!r} has no pages")
    lines = [f"[Document: {name}, {len(document)} pages]"]
    if title := document.get_metadata_dict().get("Title"):
        lines.append(f"Title: {title}")
    lines += [f"{'  ' * mark.level}- {mark.get_title()}" for mark in document.get_toc()]
    unseen = 0
    for number, page in enumerate(document, start=1):
        text_page = page.get_textpage()
        seen = text_page.get_text_bounded()
        unseen += max(0, text_page.count_chars() - len(seen))
        text_page.close()
        page.close()
        text = seen.replace("\r\n", "\n").strip()
        lines.append(f"\n[Page {number}]\n{text}")
    return PdfContent("\n".join(lines), len(document), unseen)
