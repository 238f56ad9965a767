"""What an exported site holds."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from proctor.domain.documents.document import Document


class SiteIndex(Document, frozen=True):
    made_at: datetime
    version: str
    runs: int
    comparisons: Mapping[str, str]
    """Their files, by what `/compare` is asked for."""
