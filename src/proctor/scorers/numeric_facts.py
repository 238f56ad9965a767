"""Which number answers a question of fact, where none is given and nothing is worked out: 'In which year …?'."""

from __future__ import annotations

import re
from itertools import pairwise

from proctor.scorers.asked_words import asked_words, last_question, words_of
from proctor.scorers.lazy_pattern import lazy_pattern
from proctor.scorers.markers import CORRECTION, SENTENCE_END
from proctor.scorers.number_words import spelt_at
from proctor.scorers.numbers import FoundNumber
from proctor.scorers.numeric_asked import COMPUTES, TOTAL
from proctor.scorers.numeric_counted import thing_asked, thing_counted
from proctor.scorers.numeric_given import names_numbers, without_given
from proctor.scorers.numeric_patterns import CONCLUDES, REMAINDER, SO
from proctor.scorers.stance_words import CLAUSE_END, TURN

MAX_TEXT = 240
FACT = "the only number in what answers the question"
_YEAR_ASKED = lazy_pattern(
    r"\b(?:(?:what|which)\syear|when|welche[ms]\sjahr|wann|quelle\sannée|quand|qué\saño|cuándo)\b"
    r"|何年(?!間)|いつ|몇\s?년(?:도|에)|언제|哪一?年|何时|什么时候",
    re.IGNORECASE,
)
_BEFORE_OR_AFTER = lazy_pattern(
    r"(?<!not\s)(?<!nicht\s)(?<!pas\s)(?<!no\s)"
    r"\b(?:before|after|prior\sto|vor|nach|avant|après|antes\sde|después\sde)\s\Z",
    re.IGNORECASE,
)
_BOUND_ASKED = lazy_pattern(
    r"\b(?:before|after|prior|vor|nach|avant|après|antes|después|until|since|bis|seit|hasta|desde|depuis|jusqu\w*)\b|以前|以後|以降|之前|之后|以后|前|后|後|まで|から|이전|이후|까지|부터",
    re.IGNORECASE,
)
_OR_EARLIER = lazy_pattern(
    r"\s?(?:年|년)\s?(?:以前|以後|以降|之前|之后|以后|より(?:も)?[前後]|前|后|이전|이후|전에|후에|보다\s?(?:전|후|앞|뒤))(?!夕)"
)
_LEAD = lazy_pattern(
    r"[\W_]*(?:(?:in|im\sjahre?|en|l['’]an|año|es\ssind|es\swaren|there\sare|il\sy\sen\sa|son|hay)\s)?[\W_]*",
    re.IGNORECASE,
)
_OPENING_END = lazy_pattern(
    r"\s?(?:[^\W\d]+\s?){0,2}?(?:[,;.，；、。]\s?|\s(?:and|und|et|y)\s|(?<=[어고며])\s)(?=\S)", re.IGNORECASE
)
_BARE_END = lazy_pattern(r"\s?[^\W\d]{0,2}[,;.，；。]\s*")
_SENTENCE_AFTER = lazy_pattern(r"\s?(?:[^\W\d]{1,16}|[%€])?(?:です|입니다|예요|이에요)?[.!。;；](?:\s|(?=[^\d\s]))")
_OR = lazy_pattern(r"\s(?:or|oder|ou|o|u)\s|または|もしくは|또는|아니면|或|还是|改为", re.IGNORECASE)
_FIRST_YEAR, _LAST_YEAR = 100, 2200
_STATEMENT_END = lazy_pattern(rf"{SENTENCE_END.pattern}|[;；]\s?")


def asks_fact(text: str, question: str) -> bool:
    """Whether a question names no number, and a short response works nothing out."""
    return len(text) <= MAX_TEXT and len(question) > 2 and "=" not in text and not names_numbers(question)


def fact_stated(text: str, said: list[FoundNumber], question: str) -> FoundNumber | None:
    """The only number of the statement, or clause, that repeats most of the question; the first of several such."""
    if not said or not asks_fact(text, question):
        return None
    if any(pattern.search(text) for pattern in (SO, CONCLUDES, CORRECTION, TURN, COMPUTES)) or "?" in text:
        return None
    said = only_years(text, said, question)
    asked = asked_words(question)
    for parts in (_STATEMENT_END, CLAUSE_END):
        bounds = sorted({0, *(found.end() for found in parts.finditer(text)), len(text)})
        statements = [
            (asked & (words_of(text[start:end]) | _thing_left_out(text, inside[0], said)), inside)
            for start, end in pairwise(bounds)
            if (inside := [number for number in said if start <= number.start < end])
        ]
        most = max(len(repeated) for repeated, _ in statements)
        best = [(repeated, inside) for repeated, inside in statements if len(repeated) == most]
        is_clear = parts is _STATEMENT_END or (most > 0 and len({repeated for repeated, _ in best}) == 1)
        if is_clear and len({number.value for number in best[0][1]}) == 1:
            return best[0][1][0]
    return None


def _thing_left_out(text: str, number: FoundNumber, said: list[FoundNumber]) -> frozenset[str]:
    """Of 'Babies have 300 bones, adults 206' the bones, for the 206."""
    if thing_counted(text, number):
        return frozenset()
    before = [thing for other in said if other.start < number.start and (thing := thing_counted(text, other))]
    return before[-1] if before else frozenset()


def bare_opening(text: str, said: list[FoundNumber], question: str) -> FoundNumber | None:
    """The number that stands by itself before all else: '1921. The republic followed in 1949'."""
    start = len(text) - len(text.lstrip())
    fact = next((number for number in said if number.start == start), None)
    end = _BARE_END.match(text, fact.end) if fact else None
    if fact is None or end is None or not asks_fact(text, question) or "?" in text:
        return None
    if any(pattern.search(text) for pattern in (SO, CONCLUDES, CORRECTION, _OR)) or TURN.match(text, end.end()):
        return None
    return None if _YEAR_ASKED.search(last_question(question)) and not _is_year(text, fact) else fact


def counted_opening(text: str, said: list[FoundNumber], question: str) -> FoundNumber | None:
    """The number of the things asked for that a text opens with: '366 days; a common year has 365'."""
    start = len(text) - len(text.lstrip())
    fact = next((number for number in said if number.start == start), None)
    if fact is None or "?" in text or not asks_fact(text, question) or _YEAR_ASKED.search(last_question(question)):
        return None
    end = _SENTENCE_AFTER.match(text, fact.end)
    if end is None or not thing_counted(text, fact) & thing_asked(question):
        return None
    concludes = (SO, CONCLUDES, CORRECTION, TURN, COMPUTES, _OR)
    return None if any(pattern.search(text, end.start()) for pattern in concludes) else fact


def opening_statement(text: str, numbers: list[FoundNumber], question: str) -> FoundNumber | None:
    """The new number that a short response's first sentence consists of, where the rest concludes nothing."""
    if len(text) > MAX_TEXT or len(question) < 3 or "?" in text or "=" in text:
        return None
    start = len(text) - len(text.lstrip())
    first = spelt_at(text, start) or next((number for number in numbers if number.start == start), None)
    if first is None or not without_given([first], question):
        return None
    end = _SENTENCE_AFTER.match(text, first.end)
    if end is None or any(
        p.search(text, end.end()) for p in (SO, CONCLUDES, CORRECTION, TURN, COMPUTES, TOTAL, REMAINDER)
    ):
        return None
    return first


def opening_fact(text: str, said: list[FoundNumber], question: str) -> FoundNumber | None:
    """The number that a response to a question of fact opens with: 'Sixteen, since 1990'."""
    if not asks_fact(text, question) or "?" in text:
        return None
    lead = _LEAD.match(text)
    start = lead.end() if lead else 0
    first = spelt_at(text, start) or next((number for number in said if number.start == start), None)
    if first is None or _OPENING_END.match(text, first.end) is None:
        return None
    if any(pattern.search(text) for pattern in (SO, CONCLUDES, CORRECTION, TURN, COMPUTES, _OR)):
        return None
    return None if _YEAR_ASKED.search(last_question(question)) and not _is_year(text, first) else first


def only_years(text: str, numbers: list[FoundNumber], question: str) -> list[FoundNumber]:
    """The years among them, where a question asks for one."""
    if len(numbers) < 2 or names_numbers(question) or not _YEAR_ASKED.search(last_question(question)):
        return numbers
    return [number for number in numbers if _is_year(text, number)] or numbers


def is_year_asked(text: str, number: FoundNumber, question: str) -> bool:
    """Whether a question asks for a year, and this is one."""
    return _is_year(text, number) and _YEAR_ASKED.search(last_question(question)) is not None


def year_bound(text: str, number: FoundNumber, question: str) -> re.Match[str] | None:
    """'Before 1989', '1989年以降' where a year is asked for, and not one before or after which something was."""
    asked = last_question(question)
    if not _YEAR_ASKED.search(asked) or _BOUND_ASKED.search(asked) or not _is_year(text, number):
        return None
    return _BEFORE_OR_AFTER.search(text, 0, number.start) or _OR_EARLIER.match(text, number.end)


def _is_year(text: str, number: FoundNumber) -> bool:
    return (
        isinstance(number.value, int)
        and number.text.isdecimal()
        and _FIRST_YEAR <= number.value <= _LAST_YEAR
        and not re.match(r"\s?(?:%|km|m\b|[€$])", text[number.end :])
    )
