"""Which of the numbers side by side in a sentence the question asks for."""

from __future__ import annotations

import re
from itertools import pairwise

from proctor.scorers.asked_words import asked_words, words_of
from proctor.scorers.numbers import FoundNumber
from proctor.scorers.numeric_patterns import REMAINDER

_LEFT_BEFORE = re.compile(
    r"(?:\b(?:leav(?:es?|ing)(?:\sbehind)?|remainder(?:\sof)?|with|and|rest|reste|sobran?|quedan?|bleiben|bleibt)|余り|残り|나머지|剩下?|余)\s?\Z",
    re.IGNORECASE,
)
_LEFT_AFTER = re.compile(
    r"\s(?:\w+\s){0,2}?(?:left(?:\sover)?|remain\w*|to\sspare|übrig|restant\w*|sobran\w*)\b|\s?\w?(?:余|残|剩|남)", re.IGNORECASE
)
_SURE_LEFT_BEFORE = re.compile(
    r"(?:\b(?:leav(?:es?|ing)|remainder(?:\sof)?|rest|reste|sobran?)|余り|나머지|余)\s?\Z", re.IGNORECASE
)
_NEXT_WORDS = re.compile(r"\s?(?!and\b|und\b|et\b|y\b|or\b)([^\W\d_]+(?:\s(?!and\b|und\b|et\b|y\b)[^\W\d_]+)?)")
_JOINED = re.compile(
    r"[^\d.;:=\n]{0,30}?(?:,|\b(?:and|und|et|y|plus|sowie)\b)[^\d.;:=\n]{0,20}|[^\d.;:=\n]{0,8}[、，,で고며와과と][^\d.;:=\n]{0,10}",
    re.IGNORECASE,
)
_SPACELESS = re.compile(r"[\u3040-\uffff]")


def keep_asked(text: str, numbers: list[FoundNumber], question: str) -> list[FoundNumber]:
    """The numbers without those of other things: '64 children and 96 adults', '9 each and 2 are left over'."""
    if len(numbers) < 2 or len(question) < 3:
        return numbers
    if not REMAINDER.search(question):
        numbers = [number for number in numbers if not _is_left(text, number)] or numbers
    return _of_things_asked(text, numbers, question)


def _is_left(text: str, number: FoundNumber) -> bool:
    before = text[max(0, number.start - 24) : number.start]
    if _SURE_LEFT_BEFORE.search(before):
        return True
    return _LEFT_BEFORE.search(before) is not None and _LEFT_AFTER.match(text, number.end) is not None


def _of_things_asked(text: str, numbers: list[FoundNumber], question: str) -> list[FoundNumber]:
    """Each number must say what it counts; one that does not may be what the sentence arrives at."""
    asked = asked_words(question)
    things = [_thing_counted(text, number, numbers) for number in numbers]
    fitting = [number for number, thing in zip(numbers, things, strict=True) if thing & asked]
    gaps = (text[one.end : other.start] for one, other in pairwise(numbers))
    if not all(things) or not all(map(_JOINED.fullmatch, gaps)) or len({number.value for number in fitting}) != 1:
        return numbers
    return fitting


def _thing_counted(text: str, number: FoundNumber, numbers: list[FoundNumber]) -> frozenset[str]:
    behind = _NEXT_WORDS.match(text, number.end)
    if behind and not _SPACELESS.search(behind[0]):
        return words_of(behind[0])
    since = max((other.end for other in numbers if other.end <= number.start), default=max(0, number.start - 20))
    return words_of(text[since : number.start])
