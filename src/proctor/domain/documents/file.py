"""Files that people uploaded."""

from __future__ import annotations

from collections.abc import Sequence

from proctor.domain.documents.document import Document


class OutlineEntry(Document, frozen=True):
    """A heading in the outline of a PDF."""

    title: str
    level: int
    """From 0."""
    page: int | None
    """From 1; null where it leads to none."""


class StoredFile(Document, frozen=True, kw_only=True):
    """An image, a PDF or a text; its kind is what its content is, whatever it was called."""

    file_id: str
    name: str
    kind: str
    """image, pdf or text; export or report where it was made of a run."""
    media_type: str
    size_bytes: int
    pages: int | None = None
    """Of a PDF."""
    width: int | None = None
    height: int | None = None
    author: str
    created_at: str
    expires_at: str
    """Then it is gone, unless a run uses it."""
    runs: Sequence[str] = ()
    """The runs that use it: it goes with the last of them."""


class FilePage(Document, frozen=True):
    """Files, newest first."""

    items: Sequence[StoredFile]
    next: str | None


class FileText(Document, frozen=True):
    """The text of a file: of a PDF page by page, as it was extracted; of a text all of it as one page."""

    file_id: str
    pages: Sequence[str]
    outline: Sequence[OutlineEntry] = ()


class FileLink(Document, frozen=True):
    """An address from which anybody can download the file for a while."""

    url: str
    seconds: int
