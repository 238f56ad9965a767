"""What a command that fails prints with `--json`."""

from __future__ import annotations

from proctor.domain.documents.document import Document


class CommandFailure(Document, frozen=True):
    error: str
    kind: str
    """The class of the error."""
    exit_code: int
