"""Where the number a response ends with is one in words."""

from __future__ import annotations

from proctor.scorers.number_words import find_spelt
from proctor.scorers.numbers import FoundNumber, find_numbers
from proctor.scorers.numeric_facts import is_year_asked
from proctor.scorers.numeric_given import count_given, names_numbers, without_given
from proctor.scorers.numeric_roles import MAX_SHORT, NumberRole, role_of


def spelt_rather(
    text: str, best: FoundNumber | None, begin: int, stop: int, question: str, *, is_given: bool
) -> FoundNumber | None:
    """The last number in words, where the one in digits is no result, or only repeats the question given here."""
    if best is not None and role_of(text, best) is NumberRole.RESULT:
        return None
    if best is not None and (best.text.isalpha() or is_year_asked(text, best, question)):
        return None
    if best is not None and (more := _takes_more(text, best, question)):
        return more
    is_said = best is not None and role_of(text, best) <= NumberRole.RATE
    least = NumberRole.RESULT if is_said and not is_given else NumberRole.RATE
    spelt = [number for number in find_spelt(text, begin, stop) if role_of(text, number) <= least]
    if is_said and is_given:
        spelt = without_given(spelt, question)
    return spelt[-1] if spelt else None


def _takes_more(text: str, best: FoundNumber, question: str) -> FoundNumber | None:
    """'Ninety: 42 for the adults and 48 for the children': the number in words that takes more to work out."""
    if len(text) > MAX_SHORT or not names_numbers(question):
        return None
    spelt = without_given([*find_spelt(text)], question)
    counts = count_given([*find_numbers(text), *spelt], [best, *spelt], question) if spelt else []
    most = max(counts, default=0)
    return spelt[counts.index(most) - 1] if counts and most > counts[0] else None


def only_spelt(text: str) -> tuple[FoundNumber, str, bool] | None:
    spelt = [*find_spelt(text)] if len(text) <= MAX_SHORT else []
    return (spelt[-1], "the only number, in words", False) if len({number.value for number in spelt}) == 1 else None
