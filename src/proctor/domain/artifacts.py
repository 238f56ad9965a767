"""Where large bodies are kept: generated programs, logs, profiles. Kept by content, so that twice the same is once."""

from __future__ import annotations

from typing import Protocol


class Artifacts(Protocol):
    def put(self, name: str, content: bytes) -> str:
        """Keep it, and give the digest it is found under; `name` is what a reader would call the file."""
        ...
