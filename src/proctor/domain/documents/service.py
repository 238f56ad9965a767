"""What a server says of itself."""

from __future__ import annotations

from collections.abc import Sequence

from proctor.domain.documents.document import Document


class Health(Document, frozen=True):
    status: str


class Readiness(Document, frozen=True):
    down: Sequence[str]
    """What does not answer: `database`, `redis`, or `ending` while the server ends."""


class ServerVersion(Document, frozen=True):
    version: str
