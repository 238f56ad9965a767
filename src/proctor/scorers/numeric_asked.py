"""Which of the numbers side by side in a sentence the question asks for."""

from __future__ import annotations

import re
from itertools import pairwise

from proctor.scorers.asked_words import asked_words, last_question, words_of
from proctor.scorers.lazy_pattern import lazy_pattern
from proctor.scorers.markers import SENTENCE_END
from proctor.scorers.numbers import FoundNumber
from proctor.scorers.numeric_given import without_given
from proctor.scorers.numeric_patterns import REMAINDER, SO, SPENT

_LEFT_BEFORE = lazy_pattern(
    r"(?:\b(?:leav(?:es?|ing)(?:\sbehind)?|remainder(?:\sof)?|with|and|rest|reste|sobran?|quedan?|bleiben|bleibt)"
    r"|余り|残り|나머지|剩下?|余)\s?\Z",
    re.IGNORECASE,
)
_LEFT_AFTER = lazy_pattern(
    r"\s(?:\w+\s){0,2}?(?:left(?:\sover)?|remain\w*|to\sspare|übrig|restant\w*|sobran\w*)\b|\s?\w?(?:余|残|剩|남)",
    re.IGNORECASE,
)
_SURE_LEFT_BEFORE = lazy_pattern(
    r"(?:\b(?:leav(?:es?|ing)|remainder(?:\sof)?|rest|reste|sobran?)|余り|나머지|余)\s?\Z", re.IGNORECASE
)
_NEXT_WORDS = lazy_pattern(r"\s?(?!and\b|und\b|et\b|y\b|or\b)([^\W\d_]+(?:\s(?!and\b|und\b|et\b|y\b)[^\W\d_]+)?)")
_JOINED = lazy_pattern(
    r"[^\d.;:=\n]{0,30}?(?:,|\b(?:and|und|et|y|plus|sowie)\b)[^\d.;:=\n]{0,20}"
    r"|[^\d.;:=\n]{0,8}[、，,で고며와과と][^\d.;:=\n]{0,10}",
    re.IGNORECASE,
)
_WHOSE = r"(?:his|her|its|their|the\sother|ihr[e]?|sein[e]?|son|sa|leur|su)"
_OTHER_SUBJECT = lazy_pattern(
    rf"(?:[,;]\s?|\s(?:and|und|et|y|while|während|tandis\sque|mientras\sque)\s){_WHOSE}\s(?P<who>[^\W\d_]+)\b",
    re.IGNORECASE,
)
_FOR_OTHER = lazy_pattern(rf"\s(?:\w+\s)?(?:à|to|for|für|a|para)\s{_WHOSE}\s(?P<who>[^\W\d_]+)", re.IGNORECASE)
_HOW_MANY = lazy_pattern(r"\b(?:how\s(?:many|much)|wie\s?viele?|combien|cuánt[oa]s?)\b", re.IGNORECASE)
_STILL = lazy_pattern(r"\b(?:still|noch|encore|todavía|aún)\b|まだ|아직|还有", re.IGNORECASE)
COMPUTES = lazy_pattern(
    r"=|\b(?:divid\w+|gives?|makes?|times|ergibt|geteilt|macht|donne|divisé\w*|fait|da|dividid\w+|resulta|round\w*|gerundet|arrondi\w*|redonde\w+)\b",
    re.IGNORECASE,
)
_GIVEN = lazy_pattern(
    r"[\W_]*(?:(?:it|that)(?:['’]s|\sis)|(?:es|das)\ssind|c['’]est|son|es)?\s?[\W_]*[\d.,]+\s?[^\W\d]{0,12}",
    re.IGNORECASE,
)
"""'It's 96' says all."""
MAX_WITH_PARTS = 240
TOTAL = lazy_pattern(
    r"\b(?:together|altogether|in\s(?:all|total)|total|combined|zusammen|insgesamt|gesamt\w*|ensemble|en\stout|au\stotal"
    r"|en\stotal|juntos|juntas)\b|全部|合わせ|合計|みんなで|一共|总共|共有|모두|합하|전부|합계",
    re.IGNORECASE,
)
_ALONE = lazy_pattern(
    r"\b(?:alone|allein|à\s(?:lui|elle|eux|elles)\sseule?s?|por\ssí\ssol[oa]s?)\b|だけで|만으로", re.IGNORECASE
)
MAX_GONE = 40
GONE = "the number is what is gone, not what is left"
_COMMA = lazy_pattern(r"[，、]|,\s")
_NOT_GONE = lazy_pattern(
    r"=|\b(?:not|never|nicht|kein\w*|pas|no|after|nach|après|después|so|still|noch|encore|todavía|has|have|hat|keeps?"
    r"|tiene|before|if|when|wenn|si)\b|n['’]t\b|没|不|ない|ません|안\s|않|まだ|아직|还|後|后|たら|면|から|ので|니까|므로",
    re.IGNORECASE,
)
_SPACELESS = lazy_pattern(r"[\u3040-\uffff]")


def keep_asked(text: str, numbers: list[FoundNumber], question: str) -> list[FoundNumber]:
    """The numbers without those of other things: '64 children and 96 adults', '9 each and 2 are left over'."""
    if len(numbers) < 2 or len(question) < 3:
        return numbers
    if not asks_remainder(question):
        others = [number for number in numbers if not _is_left(text, number)]
        numbers = others if without_given(others, question) else numbers
    return _of_things_asked(text, _of_clause_asked(text, numbers, question), question)


def _is_left(text: str, number: FoundNumber) -> bool:
    before = text[max(0, number.start - 24) : number.start]
    if _SURE_LEFT_BEFORE.search(before):
        return True
    return _LEFT_BEFORE.search(before) is not None and _LEFT_AFTER.match(text, number.end) is not None


def _of_clause_asked(text: str, numbers: list[FoundNumber], question: str) -> list[FoundNumber]:
    """'The mother is 24; the difference is 18' where the mother is asked about."""
    semicolon = text.find(";", numbers[0].end, numbers[-1].start)
    if semicolon < 0 or text.find(";", semicolon + 1, numbers[-1].start) >= 0 or semicolon > numbers[1].start:
        return _of_first_subject(text, numbers, question)
    middle = semicolon
    opening = max((found.end() for found in SENTENCE_END.finditer(text, 0, numbers[0].start)), default=0)
    closing = SENTENCE_END.search(text, numbers[-1].end)
    asked = asked_words(question)
    first, second = text[opening:middle], text[middle : closing.start() if closing else len(text)]
    is_given = _GIVEN.fullmatch(first) is not None
    if (
        not (is_given or asked & words_of(first))
        or asked & words_of(second)
        or SO.search(second)
        or COMPUTES.search(second)
    ):
        return _of_first_subject(text, numbers, question)
    return [number for number in numbers if number.start < middle]


def _of_first_subject(text: str, numbers: list[FoundNumber], question: str) -> list[FoundNumber]:
    """'Tom has 13 and his friend has 7' where the friend is not asked about."""
    if len(numbers) != 2:
        return numbers
    between = text[numbers[0].end : numbers[1].start]
    other = _OTHER_SUBJECT.search(between) or _FOR_OTHER.match(text, numbers[1].end)
    if other is None or words_of(other["who"]) & asked_words(question) or SO.search(between):
        return numbers
    return numbers[:1]


def asks_remainder(question: str) -> bool:
    """Whether the question asks what is left: not 'If she has 5 left, how many did she start with?'."""
    asked = last_question(question)
    interrogative = _HOW_MANY.search(asked)
    asked = asked[interrogative.start() :] if interrogative else asked
    return REMAINDER.search(asked) is not None or _STILL.search(asked) is not None


def total_before_parts(text: str, numbers: list[FoundNumber], question: str) -> FoundNumber | None:
    """'32 legs. The spiders have 24, the dogs 8' where the question asks for all of them."""
    if len(numbers) < 2 or len(text) > MAX_WITH_PARTS or not TOTAL.search(last_question(question)):
        return None
    total, *parts = numbers
    rest = text[total.end :]
    if "=" in rest or SO.search(rest):
        return None
    is_sum = len(parts) > 1 and total.value == sum(part.value for part in parts)
    is_of_one = len(parts) == 1 and parts[0].value < total.value and _ALONE.search(rest) is not None
    return total if is_sum or is_of_one else None


def says_only_what_is_gone(text: str, question: str) -> bool:
    """'He gave away 15' where the question asks how many are left."""
    if len(text) > MAX_GONE or not question:
        return False
    asked = last_question(question)
    interrogative = _HOW_MANY.search(asked)
    asked = asked[interrogative.start() :] if interrogative else asked
    asked = _COMMA.split(asked)[-1]
    if REMAINDER.search(asked) is None or SPENT.search(asked) or REMAINDER.search(text):
        return False
    return SPENT.search(text) is not None and _NOT_GONE.search(text) is None


def _of_things_asked(text: str, numbers: list[FoundNumber], question: str) -> list[FoundNumber]:
    """Each number must say what it counts; one that does not may be what the sentence arrives at."""
    asked = asked_words(question)
    things = [_thing_counted(text, number, numbers) for number in numbers]
    fitting = [number for number, thing in zip(numbers, things, strict=True) if thing & asked]
    gaps = (text[one.end : other.start] for one, other in pairwise(numbers))
    if not all(things) or not all(map(_JOINED.fullmatch, gaps)):
        return numbers
    if not fitting and not text.isascii():
        return _of_first_named(numbers, things, question)
    return fitting if len({number.value for number in fitting}) == 1 else numbers


def _of_first_named(numbers: list[FoundNumber], things: list[frozenset[str]], question: str) -> list[FoundNumber]:
    """'민지는 15자루, 친구는 5자루' where the question is about 민지, whom it names first."""
    places = [min((question.find(word) for word in thing if word in question), default=-1) for thing in things]
    if min(places) < 0 or len(set(places)) != len(places):
        return numbers
    return [numbers[places.index(min(places))]]


def _thing_counted(text: str, number: FoundNumber, numbers: list[FoundNumber]) -> frozenset[str]:
    behind = _NEXT_WORDS.match(text, number.end)
    if behind and not _SPACELESS.search(behind[0]):
        return words_of(behind[0])
    since = max((other.end for other in numbers if other.end <= number.start), default=max(0, number.start - 20))
    break_ = re.search(r"[、，,]", text[since : number.start])
    return words_of(text[since + break_.end() if break_ else since : number.start])
