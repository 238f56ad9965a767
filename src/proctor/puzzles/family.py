"""All kinds of puzzles: make one, solve one from its text, check an answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from proctor.puzzles import arithmetic, dates, logic, sequences, sorting, strings
from proctor.puzzles.dice import Dice
from proctor.puzzles.puzzle import Puzzle, PuzzleForm, PuzzleReading
from proctor.puzzles.readings import bare

FAMILY_VERSION = "1"
"""Changes when any seed gives another puzzle."""

MAKERS: Mapping[str, Callable[[Dice, int], Puzzle]] = {
    "arithmetic": arithmetic.make,
    "dates": dates.make,
    "logic": logic.make,
    "sequences": sequences.make,
    "sorting": sorting.make,
    "strings": strings.make,
}
KINDS = tuple(MAKERS)
_FORMS: tuple[PuzzleForm, ...] = (
    *arithmetic.FORMS,
    *dates.FORMS,
    *logic.FORMS,
    *sequences.FORMS,
    *sorting.FORMS,
    *strings.FORMS,
)
_MARKER = re.compile(r"answer[*_`\s]*[:：][*_`]*", re.IGNORECASE)


def make(seed: int, kind: str, level: int, number: int) -> Puzzle:
    """The puzzle with that number: the same for ever and everywhere, and found without making the others."""
    return MAKERS[kind](Dice("puzzle", FAMILY_VERSION, seed, kind, level, number), level)


def _recognise(question: str) -> tuple[PuzzleForm, re.Match[str]] | None:
    for form in _FORMS:
        match = form.pattern.search(question)
        if match:
            return form, match
    return None


def solve(question: str) -> str | None:
    """The right answer, worked out from the text alone; None when the text holds no puzzle of this family."""
    known = _recognise(question)
    return known[0].solve(known[1]) if known else None


def reading_of(question: str) -> PuzzleReading | None:
    """How answers to this question are understood; None when it is no puzzle of this family."""
    known = _recognise(question)
    return known[0].reading if known else None


def check(question: str, answer: str) -> bool:
    """Whether a bare answer (without its marker) is right, however it is spelt; ValueError if this is no puzzle."""
    known = _recognise(question)
    if known is None:
        raise ValueError("the question is not a puzzle of this family")
    form, match = known
    given = form.reading.read(answer)
    return given is not None and given == form.reading.read(form.solve(match))


class Found(Struct, frozen=True):
    """What was read out of a response: its text, its value, and where it stood."""

    text: str
    value: Any
    place: str


def find_answer(response: str, reading: PuzzleReading) -> Found | None:
    """The answer after the last 'ANSWER:' marker, else one in the last line; None when nothing can be read."""
    markers = list(_MARKER.finditer(response))
    if markers:
        same_line, _, below = response[markers[-1].end() :].partition("\n")
        # What follows on the same line counts; else the paragraph below, which may be a list with one item a line.
        text = bare(same_line) or bare(below.strip().partition("\n\n")[0])
        value = reading.read(text) if text else None
        return None if value is None else Found(text, value, "after the last 'ANSWER:'")
    lines = [line.strip() for line in response.splitlines() if line.strip()]
    if not lines:
        return None
    value = reading.find(lines[-1])
    return None if value is None else Found(bare(lines[-1]), value, "in the last line, for want of an 'ANSWER:'")
