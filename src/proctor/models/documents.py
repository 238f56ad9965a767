"""The text of a PDF, read on this machine."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from hashlib import blake2b
from typing import Any

from proctor.domain.errors import ModelUnavailableError, RequestRejectedError

# PDFium keeps global state: two threads in it at once crash the process.
_one_at_a_time = threading.Lock()


# Asked again in every epoch and by every model; kept by digest, because the files themselves are large.
_known: OrderedDict[bytes, str] = OrderedDict()
MOST_KNOWN = 64
_HEADING_PAGES = re.compile(r", (\d+) pages\]")


def read_pdf(data: bytes, name: str, model: str) -> str:
    """Title, outline and pages as text; raises when the file is locked, broken or without pages."""
    key = blake2b(data + name.encode(), digest_size=16).digest()
    with _one_at_a_time:
        if key not in _known:
            _known[key] = _read(data, name, model)
            if len(_known) > MOST_KNOWN:
                _known.popitem(last=False)
        return _known[key]


def count_pages(text: str) -> int:
    """The pages of a document, told by its text as `read_pdf` gives it."""
    return int(_HEADING_PAGES.findall(text.partition("\n")[0])[-1])


def _read(data: bytes, name: str, model: str) -> str:
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
        return _text(document, name, model)
    except pdfium.PdfiumError as error:
        raise RequestRejectedError(f"{model}: the document {name!r} cannot be read ({error})") from None
    finally:
        document.close()


def _text(document: Any, name: str, model: str) -> str:
    if len(document) == 0:
        raise RequestRejectedError(f"{model}: the document {name!r} has no pages")
    lines = [f"[Document: {name}, {len(document)} pages]"]
    if title := document.get_metadata_dict().get("Title"):
        lines.append(f"Title: {title}")
    lines += [f"{'  ' * mark.level}- {mark.get_title()}" for mark in document.get_toc()]
    for number, page in enumerate(document, start=1):
        text_page = page.get_textpage()
        text = text_page.get_text_bounded().replace("\r\n", "\n").strip()
        text_page.close()
        page.close()
        lines.append(f"\n[Page {number}]\n{text}")
    return "\n".join(lines)
