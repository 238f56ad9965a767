"""What is shown of a project's keys for providers: that they are there, and where they go; never a key."""

from __future__ import annotations

from proctor.domain.documents.document import Document


class ListedProviderKey(Document, frozen=True):
    connection_id: str
    project: str
    provider: str
    base_url: str
    """The key goes to this scheme, host and port and nowhere else."""
    has_key: bool
    """False for a server that wants none."""
    set_at: str
    set_by: str


class SealedAnew(Document, frozen=True):
    sealed: int
    """How many keys and secrets of projects there are; all of them are sealed with the current secret."""
