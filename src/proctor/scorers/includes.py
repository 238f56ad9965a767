"""The response contains the target."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from proctor.domain.message import Json
from proctor.domain.response import Response
from proctor.domain.sample import Sample
from proctor.domain.score import Score
from proctor.scorers.assertion import is_asserted
from proctor.scorers.lazy_pattern import lazy_pattern
from proctor.scorers.names import start_of_name
from proctor.scorers.options import build, version_of
from proctor.scorers.reading import TextReader, final_text, plain
from proctor.scorers.words import KOREAN_ENDING

NAME = "includes"
REVISION = "11"

MAX_PLACES = 1000
SPACELESS = lazy_pattern(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\u0e00-\u0e7f]")
"""Scripts that are written without spaces: nothing there shows where a word ends."""
HANGUL = lazy_pattern("[가-힣]")
PREDICATE = (
    "(?:대왕|선생님?|씨|님|특별시|광역시|특별자치시)(?:입니다|이에요|예요|이|은|가|는|께서)?"
    "|밖에|뿐|일|이며|이고|이죠|죠|이네요|네요|이었다|였다|입니다만|인데|이지만|지만|이지"
)
"""Further forms of 'is' behind a Korean noun; 인 is none, for 한국인 is a person."""
LETTER = r"[^\W_\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\u0e00-\u0e7f가-힣]"
"""A letter or digit of a script with spaces; 'Parisは' and '3月18日' are words of their own."""


def create(**options: Json) -> Includes:
    return build(Includes, NAME, options)


@dataclass(frozen=True, slots=True)
class Includes(TextReader):
    """1 when a target occurs in the response, not as a part of a longer word or number, and is not ruled out there.

    'Not Sydney, but Canberra' does not contain Sydney. Korean particles and scripts without spaces are allowed for.
    """

    ignore_case: bool = True
    whole_words: bool = True
    """False accepts a target inside a longer word, too."""

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
        written = text if len(text) == len(said) else ""
        is_named = False
        for target in sample.targets:
            wanted = self._normal(target.strip())
            places = self._places(wanted, said) if wanted else []
            if any(is_asserted(said, start_of_name(written, start), end, sample.input_text) for start, end in places):
                return Score(NAME, 1.0, answer=target, reason="the response contains the target")
            is_named = is_named or bool(places)
        reason = "the response rules the target out" if is_named else "the target does not occur in the response"
        return Score(NAME, 0.0, answer=None, reason=reason)

    def _normal(self, text: str) -> str:
        if not text.isascii():
            text = plain(unicodedata.normalize("NFC", text))
        return text.casefold() if self.ignore_case else text

    def _places(self, wanted: str, text: str) -> list[tuple[int, int]]:
        if wanted not in text:
            return []
        return [found.span() for found in islice(_pattern(wanted, self.whole_words).finditer(text), MAX_PLACES)]


@lru_cache(maxsize=4096)
def _pattern(wanted: str, whole_words: bool) -> re.Pattern[str]:
    bare = re.escape(wanted)
    return re.compile(f"{_start(wanted[0])}{bare}{_end(wanted[-1])}" if whole_words else bare)


def _start(first: str) -> str:
    """What must not stand before a word or number that begins so."""
    if SPACELESS.match(first) or not first.isalnum():
        return ""
    if HANGUL.match(first):
        return "(?<![가-힣])"
    apart = f"(?<!{LETTER})(?<!{LETTER}_)"  # an underscore may be emphasis, as in _Paris_
    return rf"{apart}(?<!\d[.,])(?<!\A-)(?<![\s(=:]-)" if first.isdecimal() else apart


def _end(last: str) -> str:
    if SPACELESS.match(last) or not last.isalnum():
        return ""
    if HANGUL.match(last):
        return f"(?=(?:{KOREAN_ENDING}|{PREDICATE})?(?![가-힣]))"
    apart = rf"(?!_?{LETTER}"
    return rf"{apart}|[.,]\d)" if last.isdecimal() else rf"{apart}|\+\+|\#(?!\w))"  # C is not in C++
