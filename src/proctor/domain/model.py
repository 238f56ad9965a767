"""Anything that answers a prompt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from msgspec import Struct

from proctor.domain.message import Json, Prompt
from proctor.domain.response import Response


@dataclass(frozen=True, slots=True)
class ModelIdentity:
    """What decides an answer apart from the request: part of every cache key and trial id."""

    provider: str
    name: str
    endpoint: str | None
    adapter_version: str


class Allowance(Struct, frozen=True):
    """What may be asked of a model in a minute; None where nothing was said."""

    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    """Input and output together."""

    def stricter(self, other: Allowance) -> Allowance:
        """What keeps within both."""
        return Allowance(
            _less(self.requests_per_minute, other.requests_per_minute),
            _less(self.tokens_per_minute, other.tokens_per_minute),
        )


def _less(one: float | None, other: float | None) -> float | None:
    return min((rate for rate in (one, other) if rate is not None), default=None)


class Model(Protocol):
    """Answers prompts; raises ModelError when it cannot.

    One with an `allowance` is asked no faster than that; an `account` tells apart those whose allowances differ. One
    with `is_cached` False is asked anew each time, because it may have changed without its identity changing.
    """

    @property
    def identity(self) -> ModelIdentity: ...

    async def respond(self, prompt: Prompt, options: Mapping[str, Json], *, timeout_seconds: float) -> Response:
        """Answer within the time limit; `options` are sent exactly as given, and nothing else is."""
        ...

    async def close(self) -> None: ...


@runtime_checkable
class Unbounded(Protocol):
    """A model whose requests may cost any amount, whatever `max_tokens` is; any other model keeps to `max_tokens`."""

    @property
    def unbounded(self) -> str | None:
        """Why, and what to do: words that follow the model's name; None where `max_tokens` is kept to after all."""
        ...


@runtime_checkable
class ScoresTexts(Protocol):
    """A model that can be asked how likely each of several texts is; any other only writes answers."""

    @property
    def scores_texts(self) -> bool: ...


def is_cached(model: Model) -> bool:
    """Whether an answer given earlier stands for one given now: True for all models that do not say otherwise."""
    return bool(getattr(model, "is_cached", True))
