"""A model provider: repeats the last line of the question. `parrot/loud` shouts it, `parrot/quiet` whispers."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from proctor.domain.errors import NotFoundError
from proctor.domain.message import Prompt
from proctor.domain.model import ModelIdentity
from proctor.domain.response import Response, Usage
from proctor.models.provider import Provider

VOICES = {"loud": str.upper, "quiet": str.lower}
PROVIDER = Provider("parrot", "Repeats the last line of the question: parrot/loud, parrot/quiet", is_free=True)


class Parrot:
    def __init__(self, name: str) -> None:
        # Change the last part whenever the same question may get another answer: kept answers are then not reused.
        self.identity = ModelIdentity("parrot", name, None, "1")
        self._voice = VOICES[name]

    async def respond(self, prompt: Prompt, options: Mapping[str, Any], *, timeout_seconds: float) -> Response:
        started = time.perf_counter()
        answer = self._voice(prompt.messages[-1].text.rstrip().rpartition("\n")[2])
        usage = Usage(len(prompt.text.split()), len(answer.split()))  # a parrot knows words, not tokens
        return Response(answer, usage=usage, latency_seconds=time.perf_counter() - started)

    async def close(self) -> None:
        """A provider with connections would close them here."""


def create(name: str, settings: Mapping[str, Any], environment: Mapping[str, str], folder: Path) -> Parrot:
    """`name` follows the slash, `settings` the question mark; a key would be taken from `environment`."""
    if name not in VOICES:
        raise NotFoundError(f"There is no parrot {name!r}. There are: {', '.join(VOICES)}.")
    return Parrot(name)
