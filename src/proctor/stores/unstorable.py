"""What takes the place of an answer or a result that the database refuses: it concerns that one trial."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from proctor.domain.response import Response
from proctor.domain.score import Score
from proctor.domain.text import message_of
from proctor.domain.trial import Answer, Outcome, Result

UNENCODABLE = (TypeError, ValueError, LookupError, OverflowError, RecursionError)
"""What encoding raises; each database adds what its driver raises at binding."""


def unusable_answer(answer: Answer, error: Exception) -> Answer:
    """What is recorded instead of the response: it was answered, so it counts."""
    return replace(answer, response=Response.unusable(f"the answer {_why(error)}"))


def failed_result(result: Result, scorers: Iterable[str], error: Exception) -> Result:
    """No mark of any scorer: in no denominator."""
    scores = tuple(Score.unscored(name, f"the score {_why(error)}") for name in scorers)
    return Result(result.answer, scores, Outcome.FAILED)


def _why(error: Exception) -> str:
    return f"could not be stored: {type(error).__name__}: {message_of(error)}"
