"""Short ways to make a model and ask it, for the tests of adapters."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from proctor.domain.message import Message, Part, Prompt
from proctor.domain.model import Model
from proctor.domain.plan import ModelSpec
from proctor.domain.response import Response
from proctor.models.key_hosts import with_key_hosts
from proctor.models.registry import create_model, named_hosts

KEY = "sk-planted-0123456789abcdef"
KEY_VARIABLES = {
    "openai": ("OPENAI_API_KEY",),
    "anthropic": ("ANTHROPIC_API_KEY",),
    "google": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "openrouter": ("OPENROUTER_API_KEY",),
    "huggingface": ("HF_TOKEN",),
}


def spec(text: str | dict[str, Any]) -> ModelSpec:
    return ModelSpec.model_validate(text)


def make(text: str | dict[str, Any], environment: Mapping[str, str] | None = None, folder: Path = Path()) -> Model:
    """The model as if it were named on the command line, its key named too where its server is on this machine."""
    given, environment = spec(text), environment or {}
    variable = next((name for name in KEY_VARIABLES.get(given.provider, ()) if name in environment), None)
    if "base_url" in given.settings and variable is not None:
        given = given.model_copy(update={"settings": {"auth_variable": variable, **given.settings}})
    named = with_key_hosts(environment, named_hosts([given]))
    return create_model(given, environment=named, folder=folder)


def prompt(text: str = "What is 3 + 4?", *parts: Part, system: str | None = None, **more: Any) -> Prompt:
    messages = [Message("system", system)] if system else []
    from proctor.domain.message import Text

    content: str | tuple[Part, ...] = (Text(text), *parts) if parts else text
    return Prompt((*messages, Message("user", content)), **more)


def ask(
    model: Model,
    question: Prompt | str = "What is 3 + 4?",
    options: Mapping[str, Any] | None = None,
    timeout: float = 20.0,
) -> Response:
    """One question, asked in a loop of its own; the model is closed afterwards."""

    async def go() -> Response:
        try:
            asked = prompt(question) if isinstance(question, str) else question
            return await model.respond(asked, options or {}, timeout_seconds=timeout)
        finally:
            await model.close()

    return asyncio.run(go())
