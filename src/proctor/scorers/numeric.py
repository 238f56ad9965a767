"""The number a response arrives at is the target."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Literal, NamedTuple

from proctor.domain.message import Json
from proctor.domain.response import FinishReason, Response
from proctor.domain.sample import Sample
from proctor.domain.score import Score
from proctor.scorers.markers import CORRECTION, NEGATION, SENTENCE_END, announces, marker_ends
from proctor.scorers.numbers import UNITS, WORDS, Number, find_numbers, readable
from proctor.scorers.options import build, version_of
from proctor.scorers.reading import final_text, last_boxed, plain, without_struck

NAME = "numeric"
REVISION = "2"
DEFAULT_RELATIVE = 1e-9  # the noise of floating point, nothing more
TAIL = 4000
MARKERS_TRIED = 25
LONGEST_GAP = 120
OWN_MARKERS = ("\na:", "ans:")
COMMA_LANGUAGES = frozenset(
    {
        "de",
        "es",
        "fr",
        "it",
        "pt",
        "nl",
        "ru",
        "pl",
        "cs",
        "sv",
        "da",
        "nb",
        "no",
        "fi",
        "tr",
        "id",
        "vi",
        "uk",
        "ro",
        "hu",
    }
)

# The usual end of a response, read without further ado: 'answer is 18.', '#### 18'.
_PLAINLY = re.compile(r"[:\s*]*(?:is:?\s)?[\s*$]*(?<![\d-])(\d{1,300})[\s.*]*\Z")
_EXPRESSION = re.compile(r"[^=≈(\n;,]*[-+*/×÷x·^!][^=≈(\n;]*[=≈]", re.IGNORECASE)
_CHAINED = re.compile(r"[^=≈(\n;,]*[=≈]")
_RANGE = re.compile(r"\s?(?:[–—~〜]|(?<! )-(?! )|(?:to|bis|à|до|至|到)\s)\s?(?=[$€£]?\d)")
_ASIDE = re.compile(r"(?<=\s)\([^()\n]*\)")
_RULED_OUT = re.compile(
    r"\b(?:not|instead\sof|rather\sthan|nicht|statt|pas|no|не|а\sне)\s+[$€£]?$|(?:不是|而不是|ではなく)$", re.IGNORECASE
)
_PART_OF = re.compile(r"\d\s+(?:out\s)?of\s(?:the\s|these\s|those\s)?$", re.IGNORECASE)
_BETWEEN = re.compile(r"\b(?:between|zwischen|entre)\s+[$€£]?$", re.IGNORECASE)
_WORDS = re.compile(rf"[\s:*_]*(?:is\s+)?[*_]*({'|'.join(WORDS)})(?:-({'|'.join(UNITS)}))?(?![\w-])", re.IGNORECASE)
_BOLD = re.compile(r"\*\*([^*\n]+)\*\*")
_REASONING = re.compile(r"\b(?:because|since|as|weil|denn|parce|porque)\b", re.IGNORECASE)


def create(**options: Json) -> NumericMatch:
    return build(NumericMatch, NAME, options)


class Reading(NamedTuple):
    """A number and how it was found."""

    number: Number
    how: str
    is_range: bool = False


@dataclass(frozen=True, slots=True)
class NumericMatch:
    """1 when the number the response announces, boxes or ends with equals a target within the tolerance."""

    tolerance: float = 0.0
    """Absolute; 0.5 accepts 17.5 to 18.5 for 18."""
    relative: float = DEFAULT_RELATIVE
    """As a share of the target; 0.01 accepts 1 %."""
    decimal: Literal["auto", "point", "comma"] = "auto"
    """How 1.234 is read: `auto` takes the decimal comma for samples tagged with a language that writes it."""

    @property
    def name(self) -> str:
        return NAME

    @property
    def version(self) -> str:
        return version_of(self, REVISION)

    async def score(self, sample: Sample, response: Response) -> Score:
        if sample.target is None:
            return Score.unscored(NAME, reason="the sample has no target")
        targets = [number for text in sample.targets if (number := _target(text)) is not None]
        if not targets:
            return Score.unscored(NAME, reason=f"the target {sample.target!r} is not a number")
        text = final_text(response.text)
        if not text:
            return Score.invalid(NAME, reason="the response is empty")
        is_cut = response.finish_reason is FinishReason.LENGTH
        reading = read_number(text, comma_decimals=self._reads_commas(sample), is_cut=is_cut)
        if reading is None:
            reason = "cut off before an answer was announced" if is_cut else "no number in the response"
            return Score.invalid(NAME, reason=reason)
        number = reading.number
        if reading.is_range:
            return Score(NAME, 0.0, answer=number.text, reason=f"a range, not one number; {reading.how}")
        right = any(self._equal(number, target) for target in targets)
        verdict = "equals the target" if right else "differs from the target"
        return Score(NAME, float(right), answer=number.text, reason=f"{reading.how}; {verdict}")

    def _reads_commas(self, sample: Sample) -> bool:
        if self.decimal == "auto":
            return bool(sample.tags) and sample.tags.get("language") in COMMA_LANGUAGES
        return self.decimal == "comma"

    def _equal(self, said: Number, target: Number) -> bool:
        if said.factor == target.factor:
            return self._close(said.value, target.value)
        return any(self._close(a, b) for a in said.readings() for b in target.readings())

    def _close(self, said: int | float, target: int | float) -> bool:
        if said == target:
            return True
        if isinstance(said, int) and isinstance(target, int) and self.relative == DEFAULT_RELATIVE:
            return abs(said - target) <= self.tolerance
        try:
            return abs(said - target) <= max(self.tolerance, self.relative * abs(target))
        except OverflowError:
            return math.isclose(math.log10(abs(said)), math.log10(abs(target)), rel_tol=self.relative)


@lru_cache(maxsize=4096)
def _target(text: str) -> Number | None:
    reading = read_number(text.strip())
    return reading.number if reading and not reading.is_range else None


def read_number(text: str, *, comma_decimals: bool = False, is_cut: bool = False) -> Reading | None:
    """The number a text arrives at: the last boxed or announced, else the last bold one of its end, else the last."""
    text = readable(plain(without_struck(text)))
    claim = _claimed(text, comma_decimals)
    if claim is not None:
        return _corrected(text, claim, comma_decimals) or claim
    if is_cut:
        few = list(islice(find_numbers(text, comma_decimals=comma_decimals), 2))
        return Reading(few[0], "the only number") if len(few) == 1 and len(text) < 80 else None
    return _last(text, comma_decimals)


def _claimed(text: str, comma: bool) -> Reading | None:
    boxed = last_boxed(text) if "\\boxed" in text else None
    lowered = text.lower()
    if len(lowered) != len(text):  # a few letters grow when lowered
        lowered = text
    for end in islice(marker_ends(text, lowered, OWN_MARKERS), MARKERS_TRIED):
        if boxed and end < boxed[0]:
            break
        claim = _announced(text, end, comma)
        if claim is not None:
            return claim
    if boxed:
        numbers = list(find_numbers(boxed[1], comma_decimals=comma))
        if numbers:
            number = numbers[-1] if "=" in boxed[1] else numbers[0]
            at = boxed[0]
            inside = Number(number.value, number.text, at, at + len(boxed[1]) + 7, number.factor)
            return Reading(inside, "boxed", _is_range(boxed[1], number))
    return None


def _announced(text: str, end: int, comma: bool) -> Reading | None:
    """The number that the marker ending here announces, if it does."""
    plainly = _PLAINLY.match(text, end)
    if plainly is not None:
        written = plainly[1]
        return Reading(Number(int(written), written, plainly.start(1), plainly.end(1)), "announced")
    spelt = _WORDS.match(text, end)
    if spelt is not None:
        value = WORDS[spelt[1].lower()] + (UNITS[spelt[2].lower()] if spelt[2] else 0)
        return Reading(Number(value, spelt[0].strip(" :*_\n"), spelt.start(1), spelt.end()), "announced in words")
    stop = min(len(text), end + 240)
    first: Number | None = None
    for number in islice(find_numbers(text, end, stop, comma_decimals=comma), 4):
        gap = text[end : number.start]
        if not announces(gap, LONGEST_GAP):
            return None
        if not NEGATION.search(gap):
            first = number
            break
    if first is None:
        return None
    closing = SENTENCE_END.search(text, first.end, stop)
    chosen = _result(text[: closing.start() if closing else stop], first, comma)
    is_between = text.startswith("between ", first.start - 8)
    return Reading(chosen, "announced", is_between or _is_range(text, chosen))


def _result(sentence: str, first: Number, comma: bool) -> Number:
    """Of '3 × 6 = 18' the result, of '18 because 20 - 2 = 18' the number named first."""
    position = first.start
    if sentence.find("=", position) < 0 and sentence.find("≈", position) < 0:
        return first
    while found := _EXPRESSION.match(sentence, position):
        if _REASONING.search(found.group()):
            break
        position = found.end()
        while chained := _CHAINED.match(sentence, position):
            position = chained.end()
    if position == first.start:
        return first
    return next(find_numbers(sentence, position, comma_decimals=comma), first)


def _is_range(text: str, number: Number) -> bool:
    return _RANGE.match(text, number.end) is not None


def _corrected(text: str, claim: Reading, comma: bool) -> Reading | None:
    """The last number after words such as 'wait' that follow the announced one."""
    end = claim.number.end
    if len(text) - end < 8:
        return None
    correction = CORRECTION.search(text, end)
    if correction is None:
        return None
    numbers = list(find_numbers(text, correction.end(), comma_decimals=comma))
    return Reading(numbers[-1], "the last number after a correction") if numbers else None


def _last(text: str, comma: bool) -> Reading | None:
    """The last bold number of the last line, else the last number; asides in brackets only where there is no other."""
    start = max(0, len(text) - TAIL)
    while start and not text[start].isspace():  # never cut a number in two
        start -= 1
    end_line = text.rfind("\n") + 1
    for bold in reversed(list(_BOLD.finditer(text, max(end_line, start)))):
        numbers = list(find_numbers(bold[1], comma_decimals=comma))
        if numbers:
            return Reading(numbers[-1], "the last number in bold", _is_range(bold[1], numbers[0]))
    outside = _ASIDE.sub(lambda found: " " * len(found[0]), text[start:])
    numbers = list(find_numbers(outside, comma_decimals=comma))
    if numbers:
        text = outside
    else:
        numbers = list(find_numbers(text, comma_decimals=comma))
    if not numbers:
        return None
    # 'It is 33, not 36': what is ruled out is no answer, unless nothing else is said.
    kept = [number for number in numbers if not _is_aside(text, number)]
    numbers = kept or numbers
    is_range = len(numbers) > 1 and _ends_range(text, numbers[-2], numbers[-1])
    return Reading(numbers[-1], "the last number", is_range)


def _is_aside(text: str, number: Number) -> bool:
    """'33, not 36' and '14 of the 20': what is ruled out, or what something is a part of."""
    before = text[max(0, number.start - 24) : number.start]
    return _RULED_OUT.search(before) is not None or _PART_OF.search(before) is not None


def _ends_range(text: str, first: Number, second: Number) -> bool:
    if _BETWEEN.search(text[max(0, first.start - 12) : first.start]) and len(text[first.end : second.start]) < 6:
        return True
    found = _RANGE.match(text, first.end)
    return found is not None and found.end() == second.start
