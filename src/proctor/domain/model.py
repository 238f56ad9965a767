"""Anything that answers a prompt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from proctor.domain.message import Json, Prompt
from proctor.domain.response import Response


@dataclass(frozen=True, slots=True)
class ModelIdentity:
    """What decides an answer apart from the request: part of every cache key and trial id."""

    provider: str
    name: str
    endpoint: str | None
    adapter_version: str


class Model(Protocol):
    """Answers prompts; raises ModelError when it cannot."""

    @property
    def identity(self) -> ModelIdentity: ...

    async def respond(self, prompt: Prompt, options: Mapping[str, Json], *, timeout_seconds: float) -> Response:
        """Answer within the time limit; `options` are sent exactly as given, and nothing else is."""
        ...

    async def close(self) -> None: ...
