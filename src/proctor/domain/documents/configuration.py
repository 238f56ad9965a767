"""Every setting, its value and where it came from."""

from __future__ import annotations

from typing import Literal

from proctor.domain.documents.document import Document


class SettingValue(Document, frozen=True):
    name: str
    value: str | None
    """What holds; secrets are masked. None where nothing is set and there is no default."""
    source: Literal["environment", "file", "default"]
    is_secret: bool
