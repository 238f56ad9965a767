"""What the engine needs of a store: what is already there, and a place to write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from proctor.domain.response import Response
from proctor.domain.trial import Answer, Result


class Recorded(Struct, frozen=True):
    """The latest attempt at a trial, as the store has it."""

    response_id: int
    attempt: int
    is_failed: bool
    is_scored: bool


class Written(Struct, frozen=True):
    """What a store made of a batch: each answer with its row; what could not be stored is there as a failure."""

    answers: tuple[Answer, ...]
    results: tuple[Result, ...]


class Journal(Protocol):
    async def recorded(self, evaluation_id: int, trial_ids: Sequence[str]) -> Mapping[str, Recorded]:
        """Those of the trials that have been asked before."""
        ...

    async def responses(self, response_ids: Sequence[int]) -> Mapping[int, Response]: ...

    async def cached(self, keys: Sequence[str]) -> Mapping[str, Response]:
        """Answers given earlier to the same requests."""
        ...

    async def write(self, answers: Sequence[Answer], results: Sequence[Result]) -> Written:
        """Commit both, and give them as they were recorded; when it returns, a crash cannot lose them."""
        ...
