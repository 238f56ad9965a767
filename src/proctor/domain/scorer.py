"""Sample and response in, score out."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from proctor.domain.response import Response
from proctor.domain.sample import Sample
from proctor.domain.score import Score


class Scorer(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str:
        """Changes whenever the same response could get another score."""
        ...

    async def score(self, sample: Sample, response: Response) -> Score:
        """Never raises for anything a model may write; a fault of its own is a ScorerError."""
        ...


@runtime_checkable
class Selective(Protocol):
    """A scorer that cannot score every sample, and can tell which: those are refused before a model is asked."""

    @property
    def name(self) -> str: ...

    def obstacle(self, sample: Sample) -> str | None:
        """Why this sample cannot be scored, whatever is answered; None when it can be. Asked of every sample: quick."""
        ...
