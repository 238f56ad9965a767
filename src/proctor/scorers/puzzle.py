"""Marks answers to generated puzzles, each kind by its own rules."""

from __future__ import annotations

from dataclasses import dataclass

from proctor.domain.errors import BenchmarkError
from proctor.domain.message import Json
from proctor.domain.response import Response
from proctor.domain.sample import Sample
from proctor.domain.score import Score
from proctor.domain.scorer import traits
from proctor.puzzles.family import FAMILY_VERSION, find_answer, reading_of, solve
from proctor.scorers.reading import TextReader, final_text

NAME = "puzzle"
REVISION = "2"
SHOWN = 80


@dataclass(frozen=True, slots=True)
class PuzzleScorer(TextReader):
    """1 when the answer after the last 'ANSWER:' means the same as the right one, however it is spelt."""

    @property
    def name(self) -> str:
        return NAME

    @property
    def version(self) -> str:
        return f"{REVISION}+{FAMILY_VERSION}"

    async def score(self, sample: Sample, response: Response) -> Score:
        question = sample.input_text
        reading = reading_of(question)
        expected = sample.targets or tuple(filter(None, (solve(question),)))
        if reading is None or not expected:
            return Score.unscored(NAME, "the sample is not one of Proctor's puzzles")
        found = find_answer(final_text(response.text), reading)
        if found is None:
            return Score.invalid(NAME, f"no answer could be read: expected {reading.sort} after 'ANSWER:'")
        is_right = any(found.value == reading.read(text) for text in expected)
        verdict = "equals" if is_right else "differs from"
        shown = found.text if len(found.text) <= SHOWN else found.text[: SHOWN - 1] + "…"
        reason = f"read {shown!r} {found.place} as {reading.sort}; it {verdict} {expected[0]!r}"
        return Score(NAME, float(is_right), answer=found.text, reason=reason)


@traits(needs_target=False, compares_values=True)
def create(**options: Json) -> PuzzleScorer:
    """The scorer; it has no options."""
    if options:
        raise BenchmarkError(f"The scorer 'puzzle' has no option {next(iter(options))!r}: it takes none.")
    return PuzzleScorer()
