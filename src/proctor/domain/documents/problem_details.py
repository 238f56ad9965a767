"""A request that was refused, as RFC 9457 writes it."""

from __future__ import annotations

from collections.abc import Sequence

from proctor.domain.documents.document import Document


class FieldProblem(Document, frozen=True):
    pointer: str
    """Where in the request it is, as a JSON pointer."""
    detail: str


class ProblemDetails(Document, frozen=True, kw_only=True):
    type: str
    title: str
    status: int
    detail: str
    """The sentence that the command line prints."""
    errors: Sequence[FieldProblem]
    request_id: str
