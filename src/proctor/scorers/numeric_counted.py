"""Which number counts what the question asks for: of '8 crates of 15 oranges' the 8, where crates are asked for."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

from proctor.scorers.asked_words import asked_words, last_question, words_of
from proctor.scorers.lazy_pattern import lazy_pattern
from proctor.scorers.markers import SENTENCE_END
from proctor.scorers.numbers import FoundNumber
from proctor.scorers.numeric_patterns import SO
from proctor.scorers.numeric_roles import NumberRole, role_of

MAX_TEXT = 240
_ASKED = lazy_pattern(
    r"\b(?:how\smany|wie\s?viele|cuánt[oa]s)\s(?:(?:more|other|full|whole|extra|complete|volle|ganze|weitere)\s)?([^\W\d]+)"
    r"|\bcombien\b[^?.]{0,30}?\bd(?:e\s|['’])([^\W\d]+)",
    re.IGNORECASE,
)
_COUNTED = lazy_pattern(r"\s(?:(?:full|whole|complete|volle|ganze|weitere|more|other|empty|leere)\s)?([^\W\d]+)")
_COMMA = lazy_pattern(r"[，、]|,\s|(?<=[\u3040-\uffff]),")
_OF_THEM = lazy_pattern(
    r"[^\W\d]*\s?(?:davon|of\s(?:them|these|those|which)|d['’]entre\s(?:eux|elles)|de\s(?:ell[oa]s|los\scuales))\b",
    re.IGNORECASE,
)
_COUNTERS = (
    "個 本 枚 冊 人 匹 頭 台 円 歳 才 回 階 年 日 時間 分 秒 週間 か月 ページ km m cm kg g 箱 袋 杯 羽 足 点 か国"
    " 개 명 장 권 자루 마리 대 원 살 번 층 년 일 시간 분 초 주 봉지 상자 쪽 그루 송이 병 잔 점 도막 조각 줄"
    " km m cm kg g"
    " 个 個 本 张 只 支 元 岁 次 米 千米 厘米 公里 箱 名 位 块 条 头 棵 辆 天 小时 分钟 秒 周 页 克 千克 公斤 升 袋 瓶"
)
_COUNTER = "|".join(sorted(map(re.escape, set(_COUNTERS.split())), key=len, reverse=True))
_COUNTER_BEHIND = lazy_pattern(rf"\s?({_COUNTER})(?![a-z])")
_COUNTER_ASKED = lazy_pattern(rf"(?:何|몇\s?|多少|几)({_COUNTER})(?![a-z])")
_NO_THING = lazy_pattern(
    r"(?:in|at|on|by|with|to|for|from|and|or|is|are|was|were|of|per|an?|each|every|times|more|less|plus|minus|that|so|but|if|left|when|too|as"
    r"|und|oder|mit|bei|im|am|auf|für|von|zu|sind|ist|pro|je|mal|davon|mehr|weniger|übrig|also|aber"
    r"|et|ou|avec|à|au|aux|dans|sur|pour|par|est|sont|de|des|du|fois|plus|moins|mais|donc"
    r"|y|o|con|en|a|al|es|son|por|del?|veces|más|menos|pero|que|qui|die|der|das)\Z",
    re.IGNORECASE,
)
"""What follows a number that counts what was named before it."""
_SPACELESS = lazy_pattern(r"[\u3040-\uffff]")
CLAUSE_END = lazy_pattern(
    rf"{SENTENCE_END.pattern}|[;；]\s?|[，、]|(?<!\d),|,(?!\d)|\s(?=(?:and|while|whereas|und|während|et|tandis|y|mientras)\s)"
    r"|(?<=[고며])\s"
)
_WORKS_OUT = lazy_pattern(r"=|÷|×|\d\s?[-+*/]\s?\d|\?")
_NEGATED = lazy_pattern(
    r"\b(?:not|no|nicht|kein\w*|pas|ne|sin|without|ohne|sans)\b|n['’]t\b|ない|ません|なかった|않|안\s|못|没|不|未",
    re.IGNORECASE,
)


def counts_asked(text: str, numbers: list[FoundNumber], question: str) -> FoundNumber | None:
    """The one that counts the thing asked for, where each of the others counts something else."""
    asked = thing_asked(question)
    if len(numbers) < 2 or len(text) > MAX_TEXT or not asked or _WORKS_OUT.search(text):
        return None
    things = [thing_counted(text, number) for number in numbers]
    things = [
        things[place - 1] if place and "…" in thing and things[place - 1] & asked else thing
        for place, thing in enumerate(things)
    ]
    if frozenset() in things or any(thing & asked_words(question) for thing in things if not thing & asked):
        return None
    fitting = [
        number
        for number, thing in zip(numbers, things, strict=True)
        if thing & asked and role_of(text, number) is not NumberRole.KNOWN
    ]
    if len({number.value for number in fitting}) != 1 or len(fitting) == len(numbers):
        return None
    return None if SO.search(text, fitting[-1].end) else fitting[-1]


def asked_in_clause(question: str) -> frozenset[str]:
    """What the last clause of a question asks, without the thing that is counted: a number says it of others, too."""
    asked = _COMMA.split(last_question(question))[-1]
    return words_of(asked) & asked_words(question) - thing_asked(question)


def of_parallel_clause(text: str, numbers: list[FoundNumber], question: str) -> FoundNumber | None:
    """Of two clauses the one that denies what the question denies: 傷んでいるのが52個、傷んでいないのが8個."""
    if len(numbers) != 2 or len(text) > MAX_TEXT or len(question) < 3 or _WORKS_OUT.search(text) or SO.search(text):
        return None
    bounds = sorted({0, *(found.end() for found in CLAUSE_END.finditer(text)), len(text)})
    clauses = [
        text[start:end] for start, end in pairwise(bounds) if any(start <= number.start < end for number in numbers)
    ]
    if len(clauses) != 2:
        return None
    asked = last_question(question)
    words = words_of(asked)
    denies = [_NEGATED.search(clause) is not None for clause in clauses]
    place = denies.index(_NEGATED.search(asked) is not None) if denies[0] is not denies[1] else None
    return None if place is None or not words & words_of(clauses[place]) else numbers[place]


def thing_counted(text: str, number: FoundNumber) -> frozenset[str]:
    """What stands behind a number; nothing where it counts what was named before."""
    if counter := _COUNTER_BEHIND.match(text, number.end):
        return frozenset({counter[1]})
    if _OF_THEM.match(text, number.end + 1):
        return frozenset("…")
    found = _COUNTED.match(text, number.end)
    if found is None or _NO_THING.match(found[1]) or _SPACELESS.search(found[1]):
        return frozenset()
    return words_of(found[1])


@lru_cache(maxsize=1024)
def thing_asked(question: str) -> frozenset[str]:
    if counter := _COUNTER_ASKED.search(last_question(question)):
        return frozenset({counter[1]})
    asked = list(_ASKED.finditer(last_question(question)))
    return words_of(asked[-1][asked[-1].lastindex or 0]) if asked else frozenset()
