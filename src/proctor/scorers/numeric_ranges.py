"""Whether a number is one end of a range, or one of two answers: '3–5', '4 or 5', 'between 10 and 12'."""

from __future__ import annotations

from proctor.scorers.numbers import FoundNumber, find_numbers
from proctor.scorers.numeric_patterns import ARRIVES, BETWEEN, CHANGED, OR, RANGE, SPAN, SPAN_BETWEEN


def is_range(text: str, number: FoundNumber) -> bool:
    """Whether another number follows it as the other end of a range, or as another answer: '3–5', '4 or 5'."""
    if RANGE.match(text, number.end) or SPAN.match(text, number.end):
        return True
    other = OR.match(text, number.end)
    second = next(find_numbers(text, other.end(), other.end() + 40), None) if other else None
    return second is not None and not set(number.readings()) & set(second.readings())


def ends_range(text: str, numbers: list[FoundNumber], last: FoundNumber) -> bool:
    place = numbers.index(last) if last in numbers else 0
    if not place:
        return False
    first = numbers[place - 1]
    if first.factor != last.factor or CHANGED.search(
        text[max(0, first.start - 50) : first.start]
    ):  # 'falls 30% to $14'
        return False
    if SPAN_BETWEEN.fullmatch(text, first.end, last.start) and not ARRIVES.match(text, last.end):
        return True
    if BETWEEN.search(text[max(0, first.start - 12) : first.start]) and last.start - first.end < 6:
        return True
    if any(found and found.end() == last.start for found in (RANGE.match(text, first.end), OR.match(text, first.end))):
        return True
    return SPAN.match(text, first.end) is not None
