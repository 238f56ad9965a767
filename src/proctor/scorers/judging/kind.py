"""A kind of judging: what is asked, which verdicts there are, and what they are worth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from proctor.domain.response import Response
from proctor.domain.sample import Sample
from proctor.scorers.judging.judge import Opposition
from proctor.scorers.judging.prompt import JudgeRequest

Verdict = int | str
Combine = Literal["mean", "median", "majority"]
Level = Literal["nominal", "ordinal"]


@dataclass(frozen=True, slots=True)
class JudgeCase:
    """What is to be judged; `text` is the response without its thinking, `opponent` what it is compared with."""

    sample: Sample
    response: Response
    text: str
    opponent: str | None = None


class Kind(Protocol):
    """A frozen dataclass whose fields are the scorer's options."""

    @property
    def name(self) -> str: ...

    @property
    def template(self) -> str:
        """Name and version of the prompt's text."""
        ...

    @property
    def combine(self) -> Combine:
        """How the verdicts of several judges become one value."""
        ...

    @property
    def level(self) -> Level:
        """Whether verdicts have an order."""
        ...

    @property
    def allowed(self) -> str:
        """The verdicts there are, in words."""
        ...

    @property
    def opposition(self) -> Opposition | None: ...

    def obstacle(self, sample: Sample) -> str | None:
        """Why this sample cannot be judged; None when it can."""
        ...

    def foregone(self, case: JudgeCase) -> Verdict | None:
        """The verdict where no judge needs to be asked."""
        ...

    def forms(self, case: JudgeCase) -> tuple[JudgeRequest, ...]:
        """The requests that each judge is sent."""
        ...

    def understand(self, word: str) -> Verdict | None:
        """What a judge's word means; None when it is not allowed."""
        ...

    def settle(self, verdicts: tuple[Verdict, ...]) -> Verdict:
        """One verdict out of those on all forms, in their order."""
        ...

    def value(self, verdict: Verdict) -> float: ...

    def say(self, verdict: Verdict, verdicts: tuple[Verdict, ...]) -> str:
        """A settled verdict in words; `verdicts` are those on all forms that it comes from."""
        ...
