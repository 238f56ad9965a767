"""The response is the target."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from proctor.domain.message import Json
from proctor.domain.response import Response
from proctor.domain.sample import Sample
from proctor.domain.score import Score
from proctor.scorers.options import build, version_of
from proctor.scorers.reading import final_text

NAME = "exact"
REVISION = "1"
_ASCII_PUNCTUATION = {c: None for c in range(128) if unicodedata.category(chr(c)).startswith("P")}


def create(**options: Json) -> ExactMatch:
    return build(ExactMatch, NAME, options)


def without_punctuation(text: str) -> str:
    """The text without its punctuation, in any script; symbols such as + and $ stay."""
    if text.isascii():
        return text.translate(_ASCII_PUNCTUATION)
    return "".join(c for c in text if not unicodedata.category(c).startswith("P"))


@dataclass(frozen=True, slots=True)
class ExactMatch:
    """1 when the response is one of the targets; outer white space and Unicode composition never matter."""

    ignore_case: bool = False
    ignore_punctuation: bool = False
    ignore_space: bool = True
    """Runs of white space count as one blank."""
    after: str | None = None
    """Read only what follows the last occurrence of this text, whatever its case, without a closing full stop."""

    @property
    def name(self) -> str:
        return NAME

    @property
    def version(self) -> str:
        return version_of(self, REVISION)

    async def score(self, sample: Sample, response: Response) -> Score:
        if sample.target is None:
            return Score.unscored(NAME, reason="the sample has no target")
        answer = final_text(response.text)
        if not answer:
            return Score.invalid(NAME, reason="the response is empty")
        if self.after is not None:
            found = list(re.finditer(re.escape(self.after), answer, re.IGNORECASE))
            if not found:
                return Score.invalid(NAME, reason=f"the response does not say {self.after!r}")
            answer = answer[found[-1].end() :].strip().removesuffix(".")
        said = self._normal(answer)
        for target in sample.targets:
            if said == self._normal(target):
                return Score(NAME, 1.0, answer=answer, reason="the same as the target")
        return Score(NAME, 0.0, answer=answer, reason="differs from the target")

    def _normal(self, text: str) -> str:
        if not text.isascii():
            text = unicodedata.normalize("NFC", text)
        if self.ignore_case:
            text = text.casefold()
        if self.ignore_punctuation:
            text = without_punctuation(text)
        return " ".join(text.split()) if self.ignore_space else text.strip()
