"""Whose number a response gives: of 'Kim has 110 and Lou has 22' Kim's, where the question asks what Kim has."""

from __future__ import annotations

import re
from itertools import pairwise

from proctor.scorers.asked_words import last_question
from proctor.scorers.lazy_pattern import lazy_pattern
from proctor.scorers.names import is_function_word
from proctor.scorers.numbers import FoundNumber
from proctor.scorers.numeric_patterns import CLAUSE_END, SO

MAX_TEXT = 240
_ENDS = lazy_pattern(rf"[.!?。！？;；:]\s|[。！？；\n]|{CLAUSE_END.pattern}", re.IGNORECASE)
_WHO = lazy_pattern(
    r"[A-ZÄÖÜÁÉÍÓÚÈÊÇÑ][^\W\d_\u3040-\uffff]+|[\u3040-\u30ff\u4e00-\u9fff々](?=[はが])|[가-힣](?=[은는이가]\s)"
)
_SUBJECT = lazy_pattern(
    r"[\W_]*(?P<name>[A-ZÄÖÜÁÉÍÓÚÈÊÇÑ][^\W\d_\u3040-\uffff]{1,24})(?=['’,\s])"
    r"|[\W_]*(?P<who>[\u3040-\u30ff\u4e00-\u9fff々]{1,6}?)[はが]|[\W_]*(?P<korean>[가-힣]{1,6}?)[은는이가]\s"
)

_ASKS_OF_NAME = lazy_pattern(r"(?<=[a-zß-ÿ]\s)[A-Z][a-zß-ÿ]+(?:['’]s)?(?=\s\w|\s?\?)")
"""A pronoun may stand for anybody the question names."""


def without_others(text: str, numbers: list[FoundNumber], question: str) -> list[FoundNumber] | None:
    """The numbers without those said of somebody else; None where all are, which answers nothing.

    Somebody else is whom the question names before it asks, and then does not ask about.
    """
    if not numbers or len(text) > MAX_TEXT or len(question) < 3 or "=" in text:
        return numbers
    if not any(who[0] in question for who in _WHO.finditer(text)):
        return numbers
    if SO.search(text):
        return numbers
    asking = last_question(question)
    bounds = sorted({0, *(found.end() for found in _ENDS.finditer(text)), len(text)})
    fitting, of_others = set[int](), set[int]()
    for start, end in pairwise(bounds):
        found = _SUBJECT.match(text, start, end)
        who = found[found.lastgroup or 0] if found else None
        if who is None or who not in question or is_function_word(who):
            continue
        (fitting if who in asking else of_others).update(
            number.start for number in numbers if start <= number.start < end
        )
    if fitting:
        return [number for number in numbers if number.start not in of_others]
    return None if len(of_others) == len(numbers) and _ASKS_OF_NAME.search(asking) else numbers
