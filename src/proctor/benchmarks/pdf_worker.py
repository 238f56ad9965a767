"""The process that reads PDFs: what is wrong with a file ends here, not in whoever asked."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from proctor.limited_process import serve

MAX_PAGES = 2_000
MAX_CHARACTERS = 20_000_000
"""Of all pages: a page may show the same text a thousand times."""
MAX_HEADINGS = 1_000


def load() -> None:
    try:
        import pypdfium2  # type: ignore[import-untyped] # noqa: F401
    except ImportError:
        return


def answer(request: Any) -> Mapping[str, Any]:
    """The text of each page, and the outline: title, level and page of each heading."""
    try:
        import pypdfium2
    except ImportError:
        return {"problem": "pypdfium2 is not installed; pip install 'proctor[documents]'"}
    try:
        document = pypdfium2.PdfDocument(base64.b64decode(request))
    except pypdfium2.PdfiumError as error:
        if "assword" in str(error) or "ecurity" in str(error):
            return {"problem": "it is encrypted, and only its password opens it"}
        return {"problem": f"it is no PDF that can be opened ({error})"}
    if len(document) > MAX_PAGES:
        return {"problem": f"it has {len(document):,} pages; the most is {MAX_PAGES:,}"}
    texts, characters = [], 0
    for number in range(len(document)):
        try:
            text = document[number].get_textpage().get_text_range().replace("\r\n", "\n")
        except pypdfium2.PdfiumError as error:
            return {"problem": f"its page {number + 1} cannot be read ({error})"}
        characters += len(text)
        if characters > MAX_CHARACTERS:
            return {"problem": f"it has more than {MAX_CHARACTERS:,} characters of text"}
        texts.append(text)
    return {"pages": texts, "outline": _outline(document)}


def _outline(document: Any) -> list[tuple[str, int, int | None]]:
    found: list[tuple[str, int, int | None]] = []
    for heading in document.get_toc(max_depth=10):
        if len(found) == MAX_HEADINGS:
            break
        target = heading.get_dest()
        page = None if target is None else target.get_index()
        found.append((heading.get_title(), heading.level, None if page is None else page + 1))
    return found


def main() -> None:
    serve(answer, load)
