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
from proctor.models.registry import create_model

KEY = "sk-planted-0123456789abcdef"


def spec(text: str | dict[str, Any]) -> ModelSpec:
    return ModelSpec.model_validate(text)


def make(text: str | dict[str, Any], environment: Mapping[str, str] | None = None, folder: Path = Path()) -> Model:
    return create_model(spec(text), environment=environment or {}, folder=folder)


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
