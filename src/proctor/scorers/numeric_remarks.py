"""A response without the remarks behind its answer: 'The speed is 7.5 km/h. A walker does about 5'.

The last sentence, or clause, that says most of what the question asks and gives a new number is the answer; what
follows, says less of it, concludes nothing and works nothing out is a remark.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from proctor.scorers.asked_words import are_forms, asked_words, last_question, words_of
from proctor.scorers.lazy_pattern import lazy_pattern
from proctor.scorers.markers import CORRECTION, SENTENCE_END
from proctor.scorers.number_words import find_spelt
from proctor.scorers.numbers import FoundNumber, find_numbers
from proctor.scorers.numeric_asked import TOTAL
from proctor.scorers.numeric_given import without_given
from proctor.scorers.numeric_patterns import CONCLUDES, REMAINDER, SO
from proctor.scorers.numeric_roles import NumberRole, role_of
from proctor.scorers.stance_words import TURN

MIN_TEXT = 24
MIN_WORDS = 1
"""A part with fewer goes on with what stands before it: 'Luis tiene 22 y Carlos, 110'."""
_WORD = lazy_pattern(r"[^\W\d_]{2,}|[\u3040-\uffff]")
_ORDINAL = lazy_pattern(r"(?<!\d)\d{1,2}\.\s\Z")
_SUMS_UP = lazy_pattern(
    r"\b(?:soit|ce\squi\s(?:fait|donne|laisse)|o\ssea|es\sdecir|de\smodo\sque|lo\sque\s(?:da|hace|deja)|(?:which|that)\s(?:makes|gives|leaves|is)|making|giving|leaving|coming|totalling"
    r"|das\s(?:macht|ergibt|sind)|so\s?dass|macht|ergibt|i\.e\.|d\.\s?h\.|c['’]est-à-dire|namely|nämlich)|になり|就是|即",
    re.IGNORECASE,
)
_CLAUSE_END = lazy_pattern(r"[;；、]\s?|(?<!\d),\s?|,\s|\s[–—]\s|\s\((?=\D)")
_WORKS_ON = lazy_pattern(r"=|÷|×|\d\s?[*/+]\s?\d|\d\s[-−–]\s\d")
_FOLLOW_UP = lazy_pattern(r"\n\s*\n[^\n.!。！]{3,300}[?？][^\w\n]*\Z")


def without_follow_up(text: str) -> str:
    """Without a last paragraph that asks the user something: 'Want to try another one? What is …?'"""
    found = _FOLLOW_UP.search(text)
    return text[: found.start()] if found and re.search(r"\d", text[: found.start()]) else text


def without_remarks(text: str, numbers: list[FoundNumber], question: str) -> str:
    """The text up to the clause that answers; as it is where it is not clear which does."""
    if len(text) < MIN_TEXT or len(question) < 3 or len(numbers) < 2:
        return text
    asked = asked_words(question)
    if not asked or not _WORD.search(text, text.rfind("\n") + 1):  # the last line is a number alone
        return text
    for ends in (SENTENCE_END, _CLAUSE_END):
        text = _cut(text, numbers, question, asked, ends)
    return text


def _cut(text: str, numbers: list[FoundNumber], question: str, asked: frozenset[str], ends: re.Pattern[str]) -> str:
    opening = 0
    if ends is _CLAUSE_END:  # of the last sentence with a number
        said = [number for number in numbers if number.start < len(text)]
        if not said:
            return text
        opening = max((found.end() for found in SENTENCE_END.finditer(text, 0, said[-1].start)), default=0)
    ended = (found.end() for found in ends.finditer(text, opening) if not _ORDINAL.search(text, 0, found.end()))
    bounds = sorted({opening, *ended, len(text)})
    parts = list(pairwise(bounds))
    if len(parts) < 2:
        return text
    best, most = len(parts) - 1, 0
    for place, (start, end) in enumerate(parts):
        inside = [number for number in numbers if start <= number.start < end and _is_said(text, number)]
        repeated = _count_asked(text[start:end], asked) if without_given(inside, question) else 0
        if repeated and repeated >= most:
            best, most = place, repeated
    rest = text[parts[best][1] :]
    if not _is_clear(most, asked) or CORRECTION.search(rest) or "?" in rest:
        return text
    later = list(_with_numbers(parts[best + 1 :], numbers))
    own = text[slice(*parts[best])]
    if not later or any(_goes_on(text[slice(*part)], own, question, asked, numbers, part) for part in later):
        return text
    return text[: parts[best][1]].rstrip(" ,;、；(")


def _with_numbers(parts: list[tuple[int, int]], numbers: list[FoundNumber]) -> Iterator[tuple[int, int]]:
    """The parts with a number, each with those before it that have none."""
    since = None
    for start, end in parts:
        since = start if since is None else since
        if any(start <= number.start < end for number in numbers):
            yield since, end
            since = None


def _count_asked(part: str, asked: frozenset[str]) -> int:
    """How many words of the question a part repeats, in whatever form; a conclusion counts as one more."""
    words = words_of(part)
    repeated = sum(any(are_forms(word, other) for other in words) for word in asked)
    concludes = CONCLUDES.search(part) or SO.search(part)
    return repeated + 1 if repeated and concludes else repeated


def _is_said(text: str, number: FoundNumber) -> bool:
    return role_of(text, number) <= NumberRole.CIRCUMSTANCE


def _is_clear(most: int, asked: frozenset[str]) -> bool:
    """Whether a part says enough of what is asked."""
    return most > 1 or 0 < len(asked) <= 2 * most


def _goes_on(
    part: str,
    own: str,
    question: str,
    asked: frozenset[str],
    numbers: list[FoundNumber],
    place: tuple[int, int],
) -> bool:
    """Whether a later part may be the answer all the same."""
    most = _count_asked(own, asked)
    if _count_asked(part, asked) >= most or len(_WORD.findall(part)) < MIN_WORDS:
        return True
    if any(p.search(part) for p in (CONCLUDES, TURN, _WORKS_ON, _SUMS_UP)):
        return True
    so = SO.search(part)
    if so and any(place[0] + so.end() <= number.start < place[1] for number in numbers):
        return True
    wanted = last_question(question)
    if REMAINDER.search(part) and REMAINDER.search(wanted):
        return True
    if _numbers_in(wanted) & _numbers_in(part) - _numbers_in(own):
        return True
    return TOTAL.search(part) is not None and (most < len(asked) or TOTAL.search(wanted) is not None)


def _numbers_in(text: str) -> frozenset[int | float]:
    return frozenset(number.value for number in (*find_numbers(text), *find_spelt(text)))
