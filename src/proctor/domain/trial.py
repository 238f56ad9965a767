"""A trial is one model answering one sample once; its result is what happened."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import force_setattr

from proctor.domain.message import Json, Prompt
from proctor.domain.response import Response
from proctor.domain.sample import Sample
from proctor.domain.score import Score
from proctor.domain.text import shorten, storable


class Outcome(StrEnum):
    SCORED = "scored"
    INVALID = "invalid"
    """Answered, but no answer could be read: counts as 0."""
    FAILED = "failed"
    """Infrastructure: in no denominator."""
    STOPPED = "stopped"
    """Budget or cancel: never asked."""


class Trial(Struct, frozen=True):
    """The unit of caching, retry, queueing and storage; the id is a hash of everything that defines it."""

    id: str
    evaluation_id: int
    sample: Sample
    epoch: int
    prompt: Prompt
    options: Mapping[str, Json]
    cache_key: str | None
    """None where caching is switched off."""
    attempt: int = 0


class Answer(Struct, frozen=True):
    """What is recorded before scoring: a response, or the fault that took its place."""

    trial: Trial
    response: Response | None
    error: str | None = None
    """Why there is no response."""
    is_cached: bool = False
    retries: int = 0
    response_id: int | None = None
    """Its row in the store, once recorded."""

    def __post_init__(self) -> None:
        if self.error is not None:
            force_setattr(self, "error", storable(shorten(self.error)))


class Result(Struct, frozen=True):
    answer: Answer
    scores: tuple[Score, ...]
    outcome: Outcome


def outcome_of(response: Response | None, scores: tuple[Score, ...]) -> Outcome:
    """A fault, and a response that no scorer could measure, are never wrong answers."""
    is_measured = is_invalid = False
    for score in scores:
        is_measured |= score.value is not None
        is_invalid |= score.is_invalid
    if response is None or not is_measured:
        return Outcome.FAILED
    return Outcome.INVALID if is_invalid else Outcome.SCORED
