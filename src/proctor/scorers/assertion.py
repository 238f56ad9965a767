"""Whether a response stands by something it names: it may rule it out, deny it, take it back or only suppose it."""

from __future__ import annotations

import re

from proctor.scorers.contrast import is_ruled_out
from proctor.scorers.markers import CORRECTION, SENTENCE_END
from proctor.scorers.refusals import find_refusal
from proctor.scorers.stance import is_asked, is_denied, is_supposed
from proctor.scorers.stance_words import TURN

WINDOW = 80
_NEGATED = re.compile(
    r"(?:\b(?:not|nicht|kein\w*|pas|no|neither|weder|ni|nor|noch)|n['’]t)(?!\s(?:only|just|nur|sólo|solo"
    r"|seulement))\s(?:[\w'’]+\s){0,3}\Z"
    r"|(?:不在|不位于|不属于)\Z",
    re.IGNORECASE,
)
_BUT = re.compile(r"[,，]?\s?(?:\b(?:but|sondern|mais|sino)\b|而)", re.IGNORECASE)
_NEITHER = re.compile(r"\b(?:neither|weder|ni)\b[^.;\n]{1,60}\b(?:nor|noch|ni)\s(?:[\w'’]+\s){0,2}\Z", re.IGNORECASE)
_NOR_AFTER = re.compile(
    r"(?:で?も|도\s)[^。、.,\n]{1,15}(?:で?も、?(?:な[くい]|あり|違)|도\s(?:아[니닌닙]|틀))|[，,]?\s?(?:也|都)不是"
)
"""'札幌でも函館でもなく', '광주도 전주도 아닌'."""
_NO = re.compile(
    r"[\s\"'”»」)*]*[?？]\s*(?:no|nein|non|nope|not|ce\sn['’]est|いいえ|いや|違|ちが|아니|아뇨|不|没有)", re.IGNORECASE
)
_NOT_THE = re.compile(
    r"\s(?:(?:is|was)(?:\snot|n['’]t)|(?:ist|war)\snicht|n['’](?:est|était)\spas|no\s(?:es|era|fue))"
    r"\s(?:(?:the|a|die|der|das|ein|eine|la|le|el|une?|un)\s|l['’])(?P<latin>\w{3,})"
    r"|は(?P<ja>\w{1,8}?)(?:では|じゃ)(?:な|あり)|[은는]\s(?P<ko>\w{1,8}?)[이가]\s아[니닙]|不是(?P<zh>\w{1,8})",
    re.IGNORECASE,
)
# 'Sorry for the delay' and 'Actually, it has been so since 987' take nothing back.
_WEAK = re.compile(r"sorry|hmm|actually|en\sfait", re.IGNORECASE)
_ANOTHER = re.compile(
    r",?\s(?:no\b|i\smean|(?:it['’]s|it\sis|that['’]s)\s(?!been|also|the\b|a\b)|c['’]est\s(?!l[ae]\b|une?\b))",
    re.IGNORECASE,
)


def is_asserted(text: str, start: int, end: int, question: str) -> bool:
    """Whether the response stands by what is named here, in answer to the question."""
    return not (
        is_ruled_out(text, start, end)
        or is_denied(text, end)
        or (is_asked(text, end) and _NO.match(text, end))
        or _NOR_AFTER.match(text, end)
        or _is_negated(text, start, end)
        or _is_not_asked_for(text, end, question)
        or is_supposed(text, start, end)
        or _is_taken_back(text, end)
        or _is_refused(text, start)
    )


def _is_negated(text: str, start: int, end: int) -> bool:
    """'No está en Panamá sino en Costa Rica', 'neither in Sydney nor in Canberra'."""
    floor = max(0, start - WINDOW)
    before = text[floor:start]
    if _NEITHER.search(before):
        return True
    return _NEGATED.search(before) is not None and _BUT.match(text, end) is not None


def _is_not_asked_for(text: str, end: int, question: str) -> bool:
    """'Sydney is not the capital' where the question asks for a capital."""
    found = _NOT_THE.match(text, end)
    return found is not None and (found[found.lastgroup or 0] or "").casefold() in question.casefold()


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
