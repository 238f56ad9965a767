"""The response contains the target."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from proctor.domain.message import Json
from proctor.domain.response import Response
from proctor.domain.sample import Sample
from proctor.domain.score import Score
from proctor.scorers.options import build, version_of
from proctor.scorers.reading import final_text

NAME = "includes"
REVISION = "1"


def create(**options: Json) -> Includes:
    return build(Includes, NAME, options)


@dataclass(frozen=True, slots=True)
class Includes:
    """1 when a target occurs in the response; with `whole_words`, not as a part of a longer word or number."""

    ignore_case: bool = True
    whole_words: bool = False

    @property
    def name(self) -> str:
        return NAME

    @property
    def version(self) -> str:
        return version_of(self, REVISION)

    async def score(self, sample: Sample, response: Response) -> Score:
        if sample.target is None:
            return Score.unscored(NAME, reason="the sample has no target")
        text = final_text(response.text)
        if not text:
            return Score.invalid(NAME, reason="the response is empty")
        said = self._normal(text)
        for target in sample.targets:
            wanted = self._normal(target.strip())
            if wanted and self._occurs(wanted, said):
                return Score(NAME, 1.0, answer=target, reason="the response contains the target")
        return Score(NAME, 0.0, answer=None, reason="the target does not occur in the response")

    def _normal(self, text: str) -> str:
        if not text.isascii():
            text = unicodedata.normalize("NFC", text)
        return text.casefold() if self.ignore_case else text

    def _occurs(self, wanted: str, text: str) -> bool:
        if wanted not in text:
            return False
        return not self.whole_words or _whole(wanted).search(text) is not None


@lru_cache(maxsize=4096)
def _whole(wanted: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(wanted)}(?!\w)")
