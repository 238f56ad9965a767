"""What a judging scorer is given by whoever runs it: judges to ask, and answers to compare with."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from proctor.domain.message import Json, Prompt
from proctor.domain.model import ModelIdentity
from proctor.domain.response import Response
from proctor.domain.sample import Sample
from proctor.domain.scorer import Scorer


@dataclass(frozen=True, slots=True)
class Opinion:
    """What a judge replied."""

    response: Response
    is_cached: bool = False
    """It replied the same to the same request earlier; nothing was paid now."""


class Judge(Protocol):
    """A model with everything that stands between it and a scorer: limits, retries, cache."""

    @property
    def label(self) -> str: ...

    @property
    def identity(self) -> ModelIdentity: ...

    @property
    def options(self) -> Mapping[str, Json]:
        """The sampling options that are sent with every request."""
        ...

    async def ask(self, prompt: Prompt, is_readable: Callable[[Response], bool]) -> tuple[Opinion, ...]:
        """Ask, and ask again within limits while the reply cannot be read; gives every reply, in their order.

        Only the last one may be readable. Raises ScorerError when there is no reply to be had, JudgeRefusedError when
        the request itself was refused: the answer may be too long, or filtered.
        """
        ...


@runtime_checkable
class NeedsJudges(Protocol):
    """A scorer that cannot score before it is given judges."""

    @property
    def judges(self) -> tuple[Judge, ...]: ...

    def with_judges(self, judges: tuple[Judge, ...]) -> Scorer: ...


FindOpponent = Callable[[Sample], Awaitable[str | None]]
"""The text that the other side answered to this sample; None when there is none."""


@dataclass(frozen=True, slots=True)
class Opposition:
    """Another run's answers: which run, which of its models where it has several."""

    run: str
    model: str | None = None


@runtime_checkable
class NeedsOpponents(Protocol):
    """A scorer that compares with answers of a stored run."""

    @property
    def opposition(self) -> Opposition | None:
        """Whose answers it needs; None when it needs nobody's."""
        ...

    def with_opponents(self, find: FindOpponent, identity: str) -> Scorer:
        """`identity` says whose answers they are, for the scorer's version."""
        ...
