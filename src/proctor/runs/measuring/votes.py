"""Which repeated answers are one and the same: what majority@k and consistency count."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from proctor.domain.scorer import ScorerTraits
from proctor.metrics.answers import bare_answer
from proctor.metrics.repeats import SampleRepeats
from proctor.scorers.reading import final_text
from proctor.stores.repeats import Repeat, StoredRepeats

MAX_VOTE_LENGTH = 200
"""Characters; a longer response stands for no answer: two may agree in other words."""

_LATEX = re.compile(r"\\(?:left|right|displaystyle|,|;|!| )|[\s$]")


class Ballot(Struct):
    """Turns stored repeats into votes, and knows whether they can be counted."""

    traits: ScorerTraits
    """Those of the scorer that marked the answers."""
    is_valid: bool = True
    """False once a response had to stand for its answer and could not: too long, or with a mark between 0 and 1."""

    def cast(self, stored: Iterator[StoredRepeats]) -> Iterator[SampleRepeats]:
        for sample in stored:
            repeats = sample.repeats
            yield SampleRepeats(
                sample.sample_id,
                tuple(repeat.value for repeat in repeats),
                self._votes(sample) if self.is_valid else (None,) * len(repeats),
                sample.category,
                sample.group,
                tuple(repeat.text for repeat in repeats),
            )

    def _votes(self, sample: StoredRepeats) -> tuple[str | None, ...]:
        said = [self._said(repeat) for repeat in sample.repeats]
        votes = [
            None if text is None else self._vote(text, repeat, sample)
            for text, repeat in zip(said, sample.repeats, strict=True)
        ]
        marks: dict[str | None, set[float]] = {}
        for vote, repeat in zip(votes, sample.repeats, strict=True):
            marks.setdefault(vote, set()).add(repeat.value)
        # What the scorer marks differently is not the same to it: then only the very same text is.
        return tuple(
            f"{vote}\n{text}" if vote is not None and len(marks[vote]) > 1 else vote
            for vote, text in zip(votes, said, strict=True)
        )

    def _said(self, repeat: Repeat) -> str | None:
        """The answer that was read, or the response where the scorer reads none; None for an unreadable one."""
        if repeat.is_invalid:
            return None
        if repeat.answer is not None:
            return repeat.answer
        text = final_text(repeat.text)
        if len(text) > MAX_VOTE_LENGTH or repeat.value not in (0.0, 1.0):
            self.is_valid = False
        return text

    def _vote(self, said: str, repeat: Repeat, sample: StoredRepeats) -> str:
        if self.traits.compares_values and repeat.value == 1.0 and not sample.has_alternatives:
            return "\nthe target"
        if not self.traits.reads_numbers:
            return bare_answer(said)
        number = _number(said)
        return number if number is not None else _LATEX.sub("", said).replace("dfrac", "frac").replace("tfrac", "frac")


def _number(text: str) -> str | None:
    """The value of a text that is one number and nothing else: 1,000 and $1000.00 are 1000."""
    from proctor.scorers.numbers import readable
    from proctor.scorers.numeric_reading import read_number
    from proctor.scorers.reading import plain

    reading = read_number(text)
    if reading is None or reading.number.text.strip(" $") != readable(plain(text)).strip(" $."):
        return None
    # '12 %' and '12' answer the same question; '3 million' and '3' do not.
    value = reading.number.value * max(reading.number.factor, 1)
    if isinstance(value, float):
        return f"{value:.12g}" if not value.is_integer() or abs(value) >= 1e15 else str(int(value))
    return str(value)
