"""Whether a response stands by something it names: it may rule it out, deny it, take it back or only suppose it."""

from __future__ import annotations

import re

from proctor.scorers.asked_words import asked_words, words_of
from proctor.scorers.contrast import is_ruled_out
from proctor.scorers.denial import is_denied
from proctor.scorers.markers import CORRECTION, SENTENCE_END
from proctor.scorers.refusals import find_refusal
from proctor.scorers.stance import is_supposed
from proctor.scorers.stance_words import CLAUSE_END, TURN

WINDOW = 80
_NOR_AFTER = re.compile(
    r"(?:で?も|도\s)[^。、.,\n]{1,15}(?:で?も、?(?:な[くい]|あり|違)|도\s(?:아[니닌닙]|틀))|[，,]?\s?(?:也|都)不是"
)
"""'札幌でも函館でもなく', '광주도 전주도 아닌'."""
# 'Sorry for the delay' and 'Actually, it has been so since 987' take nothing back.
_WEAK = re.compile(r"sorry|hmm|actually|en\sfait", re.IGNORECASE)
_SUBJECT = re.compile(r"[\W_]*(?:(?:the|der|die|das|le|la|les|el|los|las)\s|l['’])?[\W_]*", re.IGNORECASE)
_ALONE = re.compile(r"[\W_]*(?:\Z|[.!\n。！]|です|だ。|입니다|이에요|예요|이다)")
_IS = re.compile(
    r"\b(?:is|was|are|were|by|ist|war|sind|waren|von|est|était|sont|par|es|era|fue|son|por)\b|['’]s\s|c['’]est|です|である|でした|だ\Z|입니다|이에요|예요"
    r"|이다|습니다|是|为",
    re.IGNORECASE,
)
_OPEN_OR_DENIED = re.compile(
    r"\b(?:not|nicht|kein\w*|pas|no|never|many|often|some)\b|n['’]t\b|ない|ません|아니|아닙|않|不|没|可能|かも", re.IGNORECASE
)
_FORMERLY = re.compile(
    r"\b(?:formerly|previously|once|until|used\sto|früher\w*|einst|ehemals|bis|autrefois|jadis|jusqu['’]\w*|antes|antiguamente"
    r"|hasta)\b|かつて|以前|昔|예전|과거|까지|曾|原来|原來|过去|過去|直到",
    re.IGNORECASE,
)
_NOWADAYS = re.compile(
    r"\b(?:today|now|nowadays|currently|since|heute|jetzt|seitdem|inzwischen|mittlerweile|seit|aujourd['’]hui|désormais"
    r"|maintenant|depuis|hoy|ahora|actualmente|desde)\b|現在|今は|今の|지금|현재|오늘날|이제|现在|現在|如今|目前|后来|後來",
    re.IGNORECASE,
)
_ANOTHER = re.compile(
    r",?\s(?:no\b|i\smean|(?:it['’]s|it\sis|that['’]s)\s(?!been|also|the\b|a\b)|c['’]est\s(?!l[ae]\b|une?\b))",
    re.IGNORECASE,
)


def is_asserted(text: str, start: int, end: int, question: str) -> bool:
    """Whether the response stands by what is named here, in answer to the question."""
    return not (
        is_ruled_out(text, start, end)
        or is_denied(text, start, end, question)
        or _NOR_AFTER.match(text, end)
        or is_supposed(text, start, end)
        or _is_former(text, start, end)
        or _is_beside_answer(text, start, end, question)
        or _is_taken_back(text, end)
        or _is_refused(text, start)
    )


def _is_former(text: str, start: int, end: int) -> bool:
    """'Bonn was the capital until 1990; today it is Berlin'."""
    floor = max(0, start - WINDOW)
    opening = max((found.end() for found in CLAUSE_END.finditer(text, floor, start)), default=floor)
    closing = CLAUSE_END.search(text, end, end + WINDOW)
    stop = closing.start() if closing else end + WINDOW
    is_past = _FORMERLY.search(text[opening:start]) or _FORMERLY.search(text[end:stop])
    return is_past is not None and _NOWADAYS.search(text, stop, stop + WINDOW) is not None


def _is_beside_answer(text: str, start: int, end: int, question: str) -> bool:
    """'The author of Hamlet is Marlowe. Shakespeare wrote sonnets': said of something else, after the question was answered."""
    opening = max((found.end() for found in SENTENCE_END.finditer(text, 0, start)), default=0)
    if not opening or not _SUBJECT.fullmatch(text, opening, start) or _ALONE.match(text, end):
        return False
    closing = SENTENCE_END.search(text, end)
    asked = asked_words(question) - words_of(text[start:end])
    beside = asked & words_of(text[end : closing.start() if closing else len(text)])
    answers = (answer for answer in SENTENCE_END.split(text[:opening]) if len(asked & words_of(answer)) > len(beside))
    return any(_IS.search(answer) and not _OPEN_OR_DENIED.search(answer) for answer in answers)


def _is_taken_back(text: str, end: int) -> bool:
    """'Sydney … no, wait: Canberra'."""
    found = CORRECTION.search(text, end, end + WINDOW)
    if found is None or len(SENTENCE_END.findall(text, end, found.start())) > 1:
        return False
    if _WEAK.fullmatch(found[0]):
        return _ANOTHER.match(text, found.end()) is not None
    return re.search(r"\w{2}", text[found.end() :][:WINDOW]) is not None


def _is_refused(text: str, start: int) -> bool:
    """'I cannot say whether Canberra is the capital'."""
    floor = max(0, start - WINDOW)
    opening = max((found.end() for found in SENTENCE_END.finditer(text, floor, start)), default=floor)
    refusal = find_refusal(text[opening:start])
    return refusal is not None and TURN.search(text, opening + refusal.end(), start) is None
