"""Anything that answers a prompt."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from msgspec import Struct

from proctor.domain.message import Json, Prompt
from proctor.domain.response import Response
from proctor.domain.workspace import Runner


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
    """Answers prompts; raises ModelError when it cannot. What only some can do or need is in the protocols below."""

    @property
    def identity(self) -> ModelIdentity: ...

    async def respond(self, prompt: Prompt, options: Mapping[str, Json], *, timeout_seconds: float) -> Response:
        """Answer within the time limit; `options` are sent exactly as given, and nothing else is."""
        ...

    async def close(self) -> None: ...


class TextDelta(Struct, frozen=True):
    """A piece of an answer that is still being written."""

    text: str = ""
    reasoning: str = ""


@runtime_checkable
class StreamsText(Protocol):
    """A model whose answer can be read while it is written; any other answers all at once."""

    async def stream(
        self,
        prompt: Prompt,
        options: Mapping[str, Json],
        *,
        timeout_seconds: float,
        on_delta: Callable[[TextDelta], None],
    ) -> Response:
        """As `respond`, and each piece is handed over in the very callback that receives it."""
        ...


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


@runtime_checkable
class HasAllowance(Protocol):
    """A model that is asked no faster than its allowance, which all models with its account and identity share."""

    @property
    def allowance(self) -> Allowance: ...

    @property
    def account(self) -> str | None: ...


@runtime_checkable
class LimitsConcurrency(Protocol):
    """A model that takes only so many requests at once; None, as any other, as many as the plan allows."""

    @property
    def max_concurrency(self) -> int | None: ...


@runtime_checkable
class RunsLocally(Protocol):
    """A model whose weights are on the machine that asks it: only workers of the pool `local` do."""

    @property
    def runs_locally(self) -> bool: ...


@runtime_checkable
class MayChange(Protocol):
    """A model that may answer otherwise without its identity changing: asked anew each time unless `is_cached`."""

    @property
    def is_cached(self) -> bool: ...


@runtime_checkable
class BuildsPrograms(Protocol):
    """An agent: it builds a program in a folder, where any other model writes one into its answer."""

    @property
    def is_free_agent(self) -> bool:
        """Whether it works outside any sandbox."""
        ...

    async def build(
        self, prompt: Prompt, seed: Mapping[str, bytes], *, timeout_seconds: float, runner: Runner, hidden: Path
    ) -> Response:
        """Build in a folder that holds `seed`: what is new or changed is the answer; `hidden` is kept out of sight."""
        ...


def allowance_of(model: Model) -> Allowance:
    return model.allowance if isinstance(model, HasAllowance) else Allowance()


def account_of(model: Model) -> str | None:
    return model.account if isinstance(model, HasAllowance) else None


def max_concurrency_of(model: Model) -> int | None:
    return model.max_concurrency if isinstance(model, LimitsConcurrency) else None


def is_cached(model: Model) -> bool:
    """Whether an answer given earlier stands for one given now: True for all models that do not say otherwise."""
    return model.is_cached if isinstance(model, MayChange) else True
