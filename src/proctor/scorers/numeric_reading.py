"""The number a response arrives at: the rules behind the numeric scorer."""

from __future__ import annotations

import re
from itertools import islice
from typing import NamedTuple

from proctor.scorers.compound_amounts import join_amounts, stands_for_half
from proctor.scorers.lazy_pattern import lazy_pattern
from proctor.scorers.markers import (
    CORRECTION,
    NEGATION,
    OF_OTHERS,
    SENTENCE_END,
    announces,
    asks_on,
    first_turn,
    marker_ends,
    own_turn,
)
from proctor.scorers.number_words import spelt_at
from proctor.scorers.numbers import FoundNumber, find_numbers, readable
from proctor.scorers.numeric_asked import GONE
from proctor.scorers.numeric_ending import (
    DENIED,
    OF_ANOTHER,
    OF_OTHER_TIME,
    last_number,
    opening_number,
)
from proctor.scorers.numeric_given import without_given
from proctor.scorers.numeric_ranges import is_range
from proctor.scorers.numeric_roles import NumberRole, role_of
from proctor.scorers.reading import last_boxed, plain, without_struck
from proctor.scorers.refusals import find_refusal, refuses

MARKERS_TRIED = 25
MAX_GAP = 120
MAX_PLAIN = 15
"""Digits of a response that is a number and nothing else."""
REFUSAL_WINDOW = 60
OWN_MARKERS = ("\na:", "ans:")

# The usual end of a response, read without further ado: 'answer is 18.', '#### 18'.
_PLAINLY = lazy_pattern(r"[:\s*]*(?:is:?\s)?[\s*$]*(?<![\d-])(\d{1,300})[\s.*]*\Z")
_EXPRESSION = lazy_pattern(r"[^=≈(\n;,]*[-+*/×÷x·^!][^=≈(\n;]*[=≈]", re.IGNORECASE)
_CHAINED = lazy_pattern(r"[^=≈(\n;,]*[=≈]")
_LEAD = lazy_pattern(r"[\W_]*(?:(?:is|ist|lautet|est|es)\b|是|为|は)?[\W_]*", re.IGNORECASE)
MAX_LEAD = 40
_THAT_IS = lazy_pattern(
    r"\b(?:(?:that|this)(?:['’]s|\sis)\s(?:the|my|our)|das\sist\s(?:die|meine)|(?:es[ae]|ésta?)\ses\s(?:la|mi)|c['’]est\s(?:la|ma))"
    r"\s(?:final\s)?\w+\Z",
    re.IGNORECASE,
)
_CLOSES = lazy_pattern(r"\s?(?:[.!,;]|\Z)")
_REASONING = lazy_pattern(r"\b(?:because|since|as|weil|denn|parce|porque)\b", re.IGNORECASE)


class NumericReading(NamedTuple):
    """A number and how it was found."""

    number: FoundNumber
    how: str
    is_range: bool = False

    @property
    def why_not(self) -> str:
        """Why it cannot be the answer, where it is a range, ruled out or what is gone."""
        return (
            self.how
            if self.how in (GONE, DENIED, OF_ANOTHER, OF_OTHER_TIME)
            else f"a range, not one number; {self.how}"
        )


def read_number(
    text: str, *, question: str = "", comma_decimals: bool = False, is_cut: bool = False
) -> NumericReading | None:
    """The number a text arrives at: the last boxed or announced, else the one it opens with, else its conclusion's."""
    if len(text) <= MAX_PLAIN and text.isascii() and text.isdecimal() and not is_cut:
        return NumericReading(FoundNumber(int(text), text, 0, len(text)), "the last number")
    return ends_plainly(text) or read_thoroughly(text, question, comma_decimals=comma_decimals, is_cut=is_cut)


def read_thoroughly(text: str, question: str, *, comma_decimals: bool, is_cut: bool) -> NumericReading | None:
    """What `read_number` gives, whatever the text looks like."""
    text = "\n" + join_amounts(
        readable(plain(without_struck(own_turn(text)))), question
    )  # a marker such as 'A:' begins a line
    own = first_turn(text)
    for part in dict.fromkeys((own, text)):
        settled = _settled(part, comma_decimals, question)
        if settled is not None:
            return settled
        if part != text and (found := last_number(part, question=question, comma_decimals=comma_decimals)):
            return NumericReading(*found)
    if refuses(text):
        return None
    if is_cut:
        few = list(islice(find_numbers(text, comma_decimals=comma_decimals), 2))
        return NumericReading(few[0], "the only number") if len(few) == 1 and len(text) < 80 else None
    found = last_number(text, question=question, comma_decimals=comma_decimals)
    if found is None and stands_for_half(text):
        return NumericReading(FoundNumber(0.5, text.strip(), 1, len(text)), "a half in words")
    return NumericReading(*found) if found else None


def ends_plainly(text: str) -> NumericReading | None:
    """The number of a text that ends by announcing it, where nothing else in the text can matter.

    Most texts are such, and making a text readable takes several times as long as reading the number.
    """
    if not text.isascii() or "\\" in text or "<" in text or "[" in text or "~~" in text or "{,}" in text:
        return None  # LaTeX, tokens that end a turn, what is struck out
    text = "\n" + text
    end = next(marker_ends(text, text.lower(), OWN_MARKERS), None)
    claim = None if end is None else _announced_plainly(text, end)
    return None if claim is None or asks_on(text) else claim


def _settled(text: str, comma: bool, question: str) -> NumericReading | None:
    claim = _claimed(text, comma, question)
    if claim is not None:
        return _corrected(text, claim, comma) or claim
    opening = opening_number(text, comma_decimals=comma)
    return NumericReading(opening, "the response begins with it") if opening else None


def _claimed(text: str, comma: bool, question: str) -> NumericReading | None:
    boxed = last_boxed(text) if "\\boxed" in text else None
    lowered = text.lower()
    if len(lowered) != len(text):  # a few letters grow when lowered
        lowered = text
    for end in islice(marker_ends(text, lowered, OWN_MARKERS), MARKERS_TRIED):
        if boxed and end < boxed[0]:
            break
        claim = _announced_behind(text, end, comma) or _announced(text, end, comma, question)
        if claim is not None:
            return claim
    if boxed:
        numbers = list(find_numbers(boxed[1], comma_decimals=comma))
        if numbers:
            number = numbers[-1] if "=" in boxed[1] else numbers[0]
            at = boxed[0]
            inside = FoundNumber(number.value, number.text, at, at + len(boxed[1]) + 7, number.factor)
            return NumericReading(inside, "boxed", is_range(boxed[1], number))
    return None


def _announced_behind(text: str, end: int, comma: bool) -> NumericReading | None:
    """'18, and that's the answer'."""
    lead = _THAT_IS.search(text, max(0, end - MAX_LEAD), end)
    if lead is None or _CLOSES.match(text, end) is None:
        return None
    since = max((found.end() for found in SENTENCE_END.finditer(text, 0, lead.start() - 2)), default=0)
    said = list(find_numbers(text, since, lead.start(), comma_decimals=comma))
    if not said or is_range(text, said[-1]) or role_of(text, said[-1]) > NumberRole.RATE:
        return None
    return NumericReading(said[-1], "called the answer")


def _announced(text: str, end: int, comma: bool, question: str) -> NumericReading | None:
    """The number that the marker ending here announces, if it does."""
    if (plainly := _announced_plainly(text, end)) is not None:
        return plainly
    if OF_OTHERS.search(text, max(0, end - REFUSAL_WINDOW), end):  # 'You might be tempted to answer 18'
        return None
    if find_refusal(text[max(0, end - REFUSAL_WINDOW) : end]):  # 'I cannot answer: only 18 is given'
        return None
    lead = _LEAD.match(text, end)
    spelt = spelt_at(text, lead.end()) if lead else None
    if spelt is not None:
        return NumericReading(spelt, "announced in words")
    stop = min(len(text), end + 240)
    while text[stop : stop + 1].isdigit():  # never cut a number in two
        stop += 1
    first: FoundNumber | None = None
    for number in islice(find_numbers(text, end, stop, comma_decimals=comma), 4):
        gap = text[end : number.start]
        if not announces(gap, MAX_GAP):
            break
        if NEGATION.search(gap):
            continue
        is_said = role_of(text, number) <= NumberRole.RATE and not _is_given(gap, number, question)
        first = number if is_said or first is None else first
        if is_said:
            break
    if first is None:
        return None
    closing = SENTENCE_END.search(text, first.end, stop)
    chosen = _result(text[: closing.start() if closing else stop], first, comma)
    is_between = text.startswith("between ", first.start - 8)
    return NumericReading(chosen, "announced", is_between or is_range(text, chosen))


def _is_given(gap: str, number: FoundNumber, question: str) -> bool:
    """'The answer: for 340 km it takes 22.1 litres': a number of the question that is not directly announced."""
    return len(question) > 2 and _LEAD.fullmatch(gap) is None and not without_given([number], question)


def _announced_plainly(text: str, end: int) -> NumericReading | None:
    plainly = _PLAINLY.match(text, end)
    if plainly is None:
        return None
    written = plainly[1]
    return NumericReading(FoundNumber(int(written), written, plainly.start(1), plainly.end(1)), "announced")


def _result(sentence: str, first: FoundNumber, comma: bool) -> FoundNumber:
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


def _corrected(text: str, claim: NumericReading, comma: bool) -> NumericReading | None:
    """The last number after words such as 'wait' that follow the announced one."""
    end = claim.number.end
    if len(text) - end < 8:
        return None
    correction = CORRECTION.search(text, end)
    if correction is None:
        return None
    found = last_number(text[correction.end() :], comma_decimals=comma)
    return NumericReading(found[0], "the last number after a correction") if found else None
