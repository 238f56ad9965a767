"""The number a response arrives at is the target."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Literal

from proctor.domain.message import Json
from proctor.domain.response import FinishReason, Response
from proctor.domain.sample import Sample
from proctor.domain.score import Score
from proctor.domain.scorer import traits
from proctor.scorers.numbers import FoundNumber
from proctor.scorers.options import build, version_of
from proctor.scorers.reading import TextReader, final_text, shorten

if TYPE_CHECKING:
    from proctor.scorers.numeric_reading import NumericReading

NAME = "numeric"
REVISION = "12"
DEFAULT_RELATIVE = 1e-9  # the noise of floating point, nothing more
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


@traits(compares_values=True, reads_numbers=True)
def create(**options: Json) -> NumericMatch:
    return build(NumericMatch, NAME, options)


@dataclass(frozen=True, slots=True)
class NumericMatch(TextReader):
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

    def obstacle(self, sample: Sample) -> str | None:
        """Only what shows at a glance: reading every target would hold up the first request."""
        if sample.target is None:
            return "the sample has no target"
        has_digits = any(map(str.isnumeric, "".join(sample.targets)))
        return None if has_digits else f"the target {sample.target!r} is not a number"

    async def score(self, sample: Sample, response: Response) -> Score:
        targets = [number for text in sample.targets if (number := _target(text)) is not None]
        if not targets:
            return Score.unscored(NAME, self.obstacle(sample) or f"the target {sample.target!r} is not a number")
        text = shorten(final_text(response.text))
        if not text:
            return Score.invalid(NAME, reason="the response is empty")
        is_cut = response.finish_reason is FinishReason.LENGTH
        reading = _reader()(text, question=sample.input_text, comma_decimals=self._reads_commas(sample), is_cut=is_cut)
        if reading is None:
            reason = "cut off before an answer was announced" if is_cut else "no number in the response"
            return Score.invalid(NAME, reason=reason)
        number = reading.number
        if reading.is_range:
            return Score(NAME, 0.0, answer=number.text, reason=reading.why_not)
        right = any(self._equal(number, target) for target in targets)
        verdict = "equals the target" if right else "differs from the target"
        return Score(NAME, float(right), answer=number.text, reason=f"{reading.how}; {verdict}")

    def _reads_commas(self, sample: Sample) -> bool:
        if self.decimal == "auto":
            return bool(sample.tags) and sample.tags.get("language") in COMMA_LANGUAGES
        return self.decimal == "comma"

    def _equal(self, said: FoundNumber, target: FoundNumber) -> bool:
        if math.inf in (abs(said.value), abs(target.value)):  # too long for arithmetic
            return _same_digits(said.text, target.text)
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
            return 0 not in (said, target) and math.isclose(
                math.log10(abs(said)), math.log10(abs(target)), rel_tol=self.relative
            )


def _same_digits(said: str, target: str) -> bool:
    def bare(text: str) -> str:
        return text.replace(",", "").replace(" ", "").lstrip("0")

    return bare(said) == bare(target)


@cache
def _reader() -> Callable[..., NumericReading | None]:
    """Its patterns take a while to make: when the first answer is there, not while a run is being started."""
    from proctor.scorers.numeric_reading import read_number

    return read_number


PLAIN_DIGITS = 15
"""Up to here every number is exact, however it is read."""


@lru_cache(maxsize=4096)
def _target(text: str) -> FoundNumber | None:
    if not any(map(str.isnumeric, text)):
        return None
    # Most targets are such: for others, expressions are made that take as long as marking 3,000 answers.
    if text.isascii() and text.isdecimal() and len(text) <= PLAIN_DIGITS:
        return FoundNumber(int(text), text, 0, len(text))
    reading = _reader()(text.strip())
    return reading.number if reading and not reading.is_range else None
