"""Recorded answers: a run's responses, given again to the same prompts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from proctor.domain.errors import ModelUnavailableError, PlanError, RequestRejectedError
from proctor.domain.identity import digest
from proctor.domain.message import Json, Prompt
from proctor.domain.model import ModelIdentity
from proctor.domain.response import Response
from proctor.models.provider import Provider
from proctor.models.settings import NoSettings, read_settings

ADAPTER_VERSION = "1"
PROVIDER = Provider("replay", "A run's recorded answers, given again: replay/RUN", is_free=True)

Lookup = Callable[[str], Response | None]


def prompt_digest(prompt: Prompt) -> str:
    """The key under which an answer is found again: the whole prompt, and nothing but the prompt."""
    return digest(["prompt", prompt])


class ReplayModel:
    """Answers from a run, once `bind` has told it where that run's responses are."""

    scores_texts: ClassVar[bool] = True  # where the model that was recorded did

    def __init__(self, run: str) -> None:
        self.run = run
        self.identity = ModelIdentity("replay", run, None, ADAPTER_VERSION)
        self._lookup: Lookup | None = None

    def bind(self, lookup: Lookup) -> None:
        """`lookup` finds a recorded response by `prompt_digest`, or gives None."""
        self._lookup = lookup

    async def respond(self, prompt: Prompt, options: Mapping[str, Json], *, timeout_seconds: float) -> Response:  # noqa: ARG002
        if self._lookup is None:
            raise ModelUnavailableError(f"replay/{self.run} was given no recorded run to answer from.")
        response = self._lookup(prompt_digest(prompt))
        if response is None:
            raise RequestRejectedError(f"replay/{self.run} holds no answer to this prompt: the run never asked it.")
        return response

    async def close(self) -> None:
        self._lookup = None


def create(name: str, settings: Mapping[str, Any], environment: Mapping[str, str], folder: Path) -> ReplayModel:  # noqa: ARG001
    read_settings(NoSettings, settings, PROVIDER.name)
    if not name:
        raise PlanError("replay needs a run: write replay/RUN, for example replay/latest.")
    return ReplayModel(name)
