"""Which number a short response states in answer to the question, where one of its statements or clauses does so."""

from __future__ import annotations

import re

from proctor.scorers.asked_words import words_of
from proctor.scorers.clause_subjects import is_asked_about, subject_of
from proctor.scorers.lazy_pattern import lazy_pattern
from proctor.scorers.markers import CORRECTION
from proctor.scorers.numbers import FoundNumber
from proctor.scorers.numeric_asked import COMPUTES, TOTAL, total_before_parts
from proctor.scorers.numeric_counted import CLAUSE_END, asked_in_clause, counts_asked, of_parallel_clause
from proctor.scorers.numeric_facts import (
    FACT,
    bare_opening,
    counted_opening,
    fact_stated,
    opening_fact,
    opening_statement,
)
from proctor.scorers.numeric_given import names_numbers, without_given
from proctor.scorers.numeric_patterns import BETWEEN, CONCLUDES, RANGE, REASON, SO
from proctor.scorers.numeric_roles import NumberRole, role_of
from proctor.scorers.stance_words import TURN

MAX_TEXT = 240


def stated_number(text: str, numbers: list[FoundNumber], question: str) -> tuple[FoundNumber, str] | None:
    """The number and how it was found."""
    fact = bare_opening(text, numbers, question) or counted_opening(text, numbers, question)
    fact = fact or (fact_stated(text, numbers, question) if len(numbers) > 1 else None)
    if fact := fact or opening_fact(text, numbers, question):
        return fact, FACT
    if opening := opening_statement(text, numbers, question):
        return opening, "what the response opens with"
    if total := total_before_parts(text, numbers, question):
        return total, "the total of the parts behind it"
    if len(numbers) < 2 or len(text) > MAX_TEXT or len(question) < 3:
        return None
    if counted := counts_asked(text, numbers, question) or of_parallel_clause(text, numbers, question):
        return counted, "the only number of what is asked for"
    if said := _of_subject_asked(text, numbers, question) or _of_clause_asked(text, numbers, question):
        return said, "the only number said of what is asked"
    return None


def _of_subject_asked(text: str, numbers: list[FoundNumber], question: str) -> FoundNumber | None:
    """'A dozen is 12, two dozen are 24' where a dozen is asked about: each must say of what it is said."""
    subjects = [subject_of(text, number.start) for number in numbers]
    if None in subjects:
        return None
    fitting = [n for n, subject in zip(numbers, subjects, strict=True) if subject and is_asked_about(subject, question)]
    return fitting[0] if len({number.value for number in fitting}) == 1 and len(fitting) < len(numbers) else None


def _of_clause_asked(text: str, numbers: list[FoundNumber], question: str) -> FoundNumber | None:
    """'Le faltan 240 páginas y leyó 80': of two clauses with a number each the one that repeats the question."""
    if (
        len(numbers) != 2
        or not names_numbers(question)
        or "=" in text
        or "?" in text
        or any(p.search(text) for p in _GOES_ON)
    ):
        return None
    first, second = numbers
    boundary = CLAUSE_END.search(text, first.end, second.start)
    if boundary is None:
        return None
    asked = asked_in_clause(question)
    repeating = [
        number
        for number, clause in ((first, text[: boundary.start()]), (second, text[boundary.start() :]))
        if asked & words_of(clause)
    ]
    is_new = len(repeating) == 1 and bool(without_given(repeating, question))
    return repeating[0] if is_new and role_of(text, repeating[0]) <= NumberRole.CIRCUMSTANCE else None


_SUMS_UP = lazy_pattern(r"\btotal\b|\bsumm?[ea]\b|\bo\ssea\b|就是|共|合わせ|모두", re.IGNORECASE)
_GOES_ON = (SO, CONCLUDES, CORRECTION, TURN, COMPUTES, TOTAL, REASON, RANGE, BETWEEN, _SUMS_UP)
