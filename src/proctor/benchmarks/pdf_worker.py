"""The process that reads PDFs: what is wrong with a file ends here, not in whoever asked."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from proctor.limited_process import serve

MAX_PAGES = 2_000


def load() -> None:
    try:
        import pypdfium2  # type: ignore[import-untyped] # noqa: F401
    except ImportError:
        return


def answer(request: Any) -> Mapping[str, Any]:
    """The text of all pages, with an empty line between two."""
    try:
        import pypdfium2
    except ImportError:
        return {"problem": "pypdfium2 is not installed; pip install 'proctor[documents]'"}
    try:
        document = pypdfium2.PdfDocument(base64.b64decode(request))
    except pypdfium2.PdfiumError as error:
        return {"problem": f"it is no PDF that can be opened ({error})"}
    if len(document) > MAX_PAGES:
        return {"problem": f"it has {len(document):,} pages; the most is {MAX_PAGES:,}"}
    texts = [page.get_textpage().get_text_range() for page in document]
    return {"text": "\n\n".join(text.replace("\r\n", "\n") for text in texts)}


def main() -> None:
    serve(answer, load)
