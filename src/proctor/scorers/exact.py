"""The response is the target."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from proctor.domain.message import Json
from proctor.domain.response import Response
from proctor.domain.sample import Sample
from proctor.domain.score import Score
from proctor.scorers.lazy_pattern import lazy_pattern
from proctor.scorers.options import build, version_of
from proctor.scorers.reading import TextReader, final_text, last_boxed

NAME = "exact"
REVISION = "4"
_LEAD = lazy_pattern(r"[\s:：*_]*")
_AROUND = " \t*_`\"'“”‘’«»「」$"
_STOPS = ".!。！．"
_QUOTED = lazy_pattern(r"[\"“«「](.+?)[\"”»」]")
_TAG = lazy_pattern(r"</?[A-Za-z]+>")
_REMARK = lazy_pattern(
    r",?\s+(?:because|since|weil|denn|parce\sque|porque|perché|потому)\b.*|\s+\([^()]*\)\W*$", re.IGNORECASE
)
_FENCED = lazy_pattern(r"(?:```++|~~~++)[^\n`]*+\n(.*?)\n?[ \t]*(?:```++|~~~++)", re.DOTALL)
# Two underscores are as likely a part of a name, such as __init__.
_WRAPPED = lazy_pattern(r"(?P<mark>\*{1,3}|`{1,2}|_)(?P<inner>(?:(?!(?P=mark))[^\n])+)(?P=mark)")
_HEADING = lazy_pattern(r"#{1,6}[ \t]+(?P<inner>[^\n]+)")
_QUOTES = {'"': '"', "'": "'", "“": "”", "„": "“", "‘": "’", "«": "»", "»": "«", "「": "」", "『": "』", "《": "》"}
_ASCII_PUNCTUATION = {c: None for c in range(128) if unicodedata.category(chr(c)).startswith("P")}


def create(**options: Json) -> ExactMatch:
    return build(ExactMatch, NAME, options)


def without_punctuation(text: str) -> str:
    """The text without its punctuation, in any script; symbols such as + and $ stay."""
    if text.isascii():
        return text.translate(_ASCII_PUNCTUATION)
    return "".join(c for c in text if not unicodedata.category(c).startswith("P"))


@dataclass(frozen=True, slots=True)
class ExactMatch(TextReader):
    """1 when the response is one of the targets; space, Markdown, quotes and a full stop around it never matter."""

    ignore_case: bool = False
    ignore_punctuation: bool = False
    ignore_space: bool = True
    """Runs of white space count as one blank."""
    after: str | None = None
    """Read only what follows the last occurrence of this text, whatever its case.

    What stands there counts, or its first line without emphasis, quotes, a full stop, a box or a reason that follows.
    """

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
        said = _bared(answer) if self.after is None else _announced(answer, self.after)
        if not said:
            return Score.invalid(NAME, reason=f"the response does not say {self.after!r}")
        wanted = {self._normal(target) for target in sample.targets}
        for reading in said:
            if self._normal(reading) in wanted:
                return Score(NAME, 1.0, answer=reading, reason="the same as the target")
        return Score(NAME, 0.0, answer=said[-1], reason="differs from the target")

    def _normal(self, text: str) -> str:
        if not text.isascii():
            text = unicodedata.normalize("NFC", text)
        if self.ignore_case:
            text = text.casefold()
        if self.ignore_punctuation:
            text = without_punctuation(text)
        return " ".join(text.split()) if self.ignore_space else text.strip()


def _bared(text: str) -> list[str]:
    """A response as it stands, then without the code block, heading, emphasis, quotes or full stop around all of it."""
    said = [text]
    fenced = _FENCED.fullmatch(text)
    if fenced:
        said.append(fenced[1].strip())
    while (inner := _unwrap(said[-1])) is not None:
        said.append(inner.strip())
    return said


def _unwrap(text: str) -> str | None:
    """The text without what is outermost around it; None where nothing is."""
    wrapped = _WRAPPED.fullmatch(text) or _HEADING.fullmatch(text)
    if wrapped:
        return wrapped["inner"]
    inner = text[1:-1]
    closing = _QUOTES.get(text[:1])
    if closing and inner.strip() and text.endswith(closing) and not {text[0], closing} & set(inner):
        return inner
    return text[:-1] if len(text) > 1 and text[-1] in ".。" and text[-2] not in ".。" else None


def _announced(text: str, marker: str) -> list[str]:
    """What follows a marker's last occurrence: as it stands, then barer and barer; nothing where it does not occur."""
    found = list(re.finditer(re.escape(marker), text, re.IGNORECASE))
    if not found:
        return []
    rest = text[found[-1].end() :].strip()
    lead = _LEAD.match(rest)
    line = rest[lead.end() if lead else 0 :].partition("\n")[0]
    boxed = last_boxed(line)
    said = [rest, rest.removesuffix("."), line, _bare(line), _bare(_REMARK.sub("", line))]
    quoted = _QUOTED.match(line)
    inner = [found[1] for found in (boxed, quoted) if found is not None]
    return list(dict.fromkeys([*said, _bare(_TAG.sub("", line)), *inner]))


def _bare(text: str) -> str:
    """Without the emphasis, quotes and full stop around it."""
    before = ""
    while text != before:
        before, text = text, text.strip(_AROUND).rstrip(_STOPS)
    return text
