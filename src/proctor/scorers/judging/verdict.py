"""Reads a verdict out of a judge's reply, strictly: one line, this request's code, one of the allowed words.

Lines without the code are never verdicts, so nothing that a judge quotes from the answer can be taken for one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from proctor.domain.response import FinishReason, Response
from proctor.scorers.judging.prompt import PLACEHOLDER
from proctor.scorers.reading import final_text

T = TypeVar("T")
_DECORATION = " \t*_`#"
_BULLETS = " \t-•+"
_AROUND_VALUE = " \t*_`\"'“”[]()<>.!"
_REMARK = re.compile(r"\s*(?:\(|[*_`\]]*\s[-–—]\s)(?=\W*[^\W\d])")
"""Where a judge begins to explain its word on the verdict line itself: '4 (good)', 'CORRECT - it agrees'."""
_CUT_OFF = (FinishReason.LENGTH, FinishReason.FILTERED)
_ANY_VERDICT = re.compile(r"^[ \t*_`#>-]*VERDICT\b", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class VerdictReading(Generic[T]):
    """The verdict, or why there is none."""

    verdict: T | None
    problem: str | None = None


def read_verdict(
    response: Response, code: str, understand: Callable[[str], T | None], allowed: str
) -> VerdictReading[T]:
    """The one verdict of a reply; `understand` gives None for a word that is not allowed."""
    text = final_text(response.text)
    given = [word for word in _coded_words(text, code) if word.upper() != PLACEHOLDER]
    words = [_without_remark(word, understand) for word in given]
    if not words:
        return VerdictReading(None, _why_none(response, text))
    unclear = [word for word in words if understand(word) is None]
    if unclear:
        return VerdictReading(None, f"its verdict was {unclear[0][:60]!r}; allowed is {allowed}")
    if response.finish_reason in _CUT_OFF and _ends_in_verdict(response.text, code):
        return VerdictReading(None, "its reply was cut off within its verdict, which may be the beginning of another")
    verdicts = list(dict.fromkeys(understand(word) for word in words))
    if len(verdicts) > 1:
        return VerdictReading(None, f"it gave contradictory verdicts: {', '.join(map(str, verdicts))}")
    return VerdictReading(verdicts[0])


def reasons_in(response: Response, code: str) -> str:
    """The reply without its verdict line, on one line."""
    lines = [line for line in final_text(response.text).splitlines() if _coded_word(line, code) is None]
    return " ".join(" ".join(lines).split())


def _coded_words(text: str, code: str) -> list[str]:
    return [word for line in text.splitlines() if (word := _coded_word(line, code)) is not None]


def _coded_word(line: str, code: str) -> str | None:
    """What a line 'VERDICT code: word' says; emphasis and code marks around it do not matter, a quotation mark does."""
    head, colon, word = line.lstrip(_BULLETS).strip(_DECORATION).replace("：", ":").partition(":")
    parts = head.strip(_DECORATION).split()
    if not colon or len(parts) != 2 or parts[0].upper() != "VERDICT" or parts[1].strip("*_`<>[]()").lower() != code:
        return None
    return word.strip(_AROUND_VALUE)


def _ends_in_verdict(text: str, code: str) -> bool:
    """Whether nothing, not even the end of the line, follows a verdict: '1' may be all that was left of '10'."""
    lines = text.splitlines(keepends=True)
    return bool(lines) and lines[-1] == lines[-1].rstrip("\r\n") and _coded_word(lines[-1], code) is not None


def _without_remark(word: str, understand: Callable[[str], T | None]) -> str:
    """The word alone, where a remark follows it that names no other verdict."""
    remark = _REMARK.search(word)
    if understand(word) is not None or remark is None:
        return word
    said, rest = word[: remark.start()].strip(_AROUND_VALUE), word[remark.end() :]
    others = {understand(part.strip(_AROUND_VALUE + ",;:")) for part in rest.split()} - {None, understand(said)}
    return word if others else said


def _why_none(response: Response, text: str) -> str:
    if response.finish_reason is FinishReason.LENGTH:
        return "its reply was cut off before a verdict; raise its max_tokens"
    if response.finish_reason is FinishReason.FILTERED:
        return "its provider filtered the reply"
    if not text:
        return "its reply was empty"
    if _ANY_VERDICT.search(text):
        return "its reply has a verdict line without this request's code, which is not counted"
    return "its reply has no verdict line"
