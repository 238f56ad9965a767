"""Numbers of a short response that answer another question than the one asked.

What would be so in another case, what others say, a sum, a mean, a saving or a remainder nobody asks for, and the same
amount in another unit are said beside an answer. One is left out only where another number remains.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from itertools import pairwise

from proctor.scorers.asked_words import last_question
from proctor.scorers.denial import is_denied
from proctor.scorers.lazy_pattern import lazy_pattern
from proctor.scorers.markers import CORRECTION, SENTENCE_END, WEAK
from proctor.scorers.numbers import FoundNumber
from proctor.scorers.numeric_given import is_given, names_numbers, without_given
from proctor.scorers.numeric_roles import NumberRole, role_of
from proctor.scorers.numeric_units import of_other_units
from proctor.scorers.stance_words import TURN, UNREAL, VIEW

MAX_AMOUNT = 1e12
_UNIT = lazy_pattern(r"\s?([^\W\d_]{1,12}[²³]?)")
_THAT_IS = lazy_pattern(
    r"(?:\b(?:soit|i\.e\.|that\sis|das\ssind|also|d\.\s?h\.|es\sdecir|o\ssea|c['’]est-à-dire|or)|[=≈(]|すなわち|つまり|즉|即|也就是)\s?\Z",
    re.IGNORECASE,
)
MAX_TEXT = 240
"""In a longer text such numbers are part of the working, which ends with its answer."""
_STATEMENT_END = lazy_pattern(rf"{SENTENCE_END.pattern}|[;；]\s?|\s[–—-]\s|[()]")
_CLAUSE_END = lazy_pattern(
    rf"{_STATEMENT_END.pattern}|:\s|[，、：]|(?<!\d),|,(?!\d)|\s(?=(?:and|but|und|aber|et|mais|y|pero)\s)"
)
_SENTENCE_OR_COMMA = lazy_pattern(rf"{_STATEMENT_END.pattern}|[，、]|(?<!\d),|,(?!\d)")
_CONDITION = lazy_pattern(
    r"\b(?:if|had\s(?:it|he|she|they|there)|unless|wenn|falls|(?:wäre|hätte)n?(?=\s(?:\w+\s){1,4}\w+,)|s['’]il|si|pour|for|für|in|en|with(?:out)?|mit|ohne|bei|avec|sans|con|sin)\b"
    r"|(?:如果|要是|假如|若是?)",
    re.IGNORECASE,
)
"""What opens a case; that it is another one shows by its numbers."""
_IF = ("if", "unless", "wenn", "falls", "si", "s'il", "s’il", "如果", "要是", "假如", "若")
_CASE = lazy_pattern(
    r"[\s\W]*(?:(?:and|but|und|aber|et|mais|y|pero)\s)?(?:if|with|wenn|falls|mit|s['’]il|si|avec|con)\b[^,]*?(?=\d)"
    r"|[\s\W]*(?:而|但)?(?:如果|要是|假如|若是?)|[^\d]{0,12}\d[\d.,]*\s?\w{1,6}?(?:なら|であれば|だったら|(?:이)?라면|(?:이었|였)다면)",
    re.IGNORECASE,
)
"""What opens a clause about a case of its own, whatever the mood of its verb."""
_JOINT = lazy_pattern(
    r"\b(?:together|combined|both(?:\sof\sthem)?|between\sthem|zusammen|beide[nr]?|gemeinsam|ensemble|à\seux\sdeux|les\sdeux|juntos|juntas|entre\slos\sdos|(?:los|las)\sdos)\b"
    r"|合わせて|二人で|ふたりで|둘이|합쳐|합하|함께|两人|兩人|一起|合起来|合计",
    re.IGNORECASE,
)
_ANY_TOTAL = lazy_pattern(
    r"\b(?:total|all|sum|altogether|they|two|insgesamt|gesamt\w*|summe|alle|sie|beiden|tout|tous|toutes|somme|ils|elles|deux|todo|todos|todas|suma|dos)\b"
    r"|全部|合計|総|みんな|一共|总共|共|모두|전부|합계|총",
    re.IGNORECASE,
)
_MEAN = lazy_pattern(
    r"\b(?:average|mean|median|durchschnitt\w*|im\smittel|mittelwert|moyenne|médiane|promedio|media|mediana)\b|平均|평균|中位",
    re.IGNORECASE,
)
_SAVING_WORDS = (
    r"(?:sav(?:es?|ed|ing|ings)|discount|reduction|spar(?:t|st|en|e)|ersparnis|rabatt|nachlass|économis\w+|économie|remise|réduction"
    r"|ahorr\w+|descuento|rebaja)"
)
_SAVING = lazy_pattern(
    rf"\b{_SAVING_WORDS}\s(?:(?:is|was|of|von|ist|beträgt|est|de|es|d['’])\s)*[$€£¥]?\Z|(?:割引額?|値引き?額?|할인\s?금액|할인액|절약|折扣|优惠|便宜了?|节省了?|省了?)[은는はが是]?\s?[$€£¥]?\Z",
    re.IGNORECASE,
)
_SAVED = lazy_pattern(
    r"\s?(?:[^\s\d.,;]{1,8}\s?)?(?:(?:less|off|cheaper|weniger|günstiger|billiger|de\smoins|menos)\b(?!\s(?:than|als|que))|(?:円)?(?:引き|オフ|お得|得し|安くなり)|원?\s?(?:할인|절약))",
    re.IGNORECASE,
)
_SAVING_ASKED = lazy_pattern(
    rf"\b{_SAVING_WORDS}\b|\b(?:less|cheaper|difference|weniger|günstiger|billiger|unterschied|moins|différence|menos|diferencia)\b"
    r"|割引|値引|お得|差|할인|절약|차이|折扣|优惠|便宜|节省|省",
    re.IGNORECASE,
)
_DIFFERENCE = lazy_pattern(
    r"\b(?:difference|gap|unterschied|differenz|différence|écart|diferencia)\b[^.;\n]{0,16}\Z|(?:差|차이)[는은가이はが]?\s?\Z",
    re.IGNORECASE,
)
_MORE_THAN = lazy_pattern(
    r"\s?(?:[^\s\d.,;]{1,12}\s)?(?:more|fewer|less|older|younger|taller|longer|mehr|weniger|älter|jünger|größer|länger"
    r"|de\splus|de\smoins|más|menos|mayor)\b(?=\s(?:than|als|que|on|am)\b|[.,;)]|\s*\Z)|\s?[^\s\d]{0,2}(?:多い|少ない|多く|年上|年下|더\s많|더\s적)",
    re.IGNORECASE,
)
_DIFFERENCE_ASKED = lazy_pattern(
    r"\b(?:difference|gap|(?:how\s(?:many|much)\s(?:\w+\s)?)?(?:more|fewer|less|older|younger|taller|longer)|unterschied|differenz|mehr|weniger|älter|jünger|größer|länger"
    r"|différence|écart|plus|moins|diferencia|más|menos|mayor|menor)\b|差|多い|少ない|多く|年上|차이|더|多|少",
    re.IGNORECASE,
)
_OVER = lazy_pattern(
    r"\s?(?:[^\s\d.,;]{1,16}\s){0,2}?(?:left\sover|to\sspare|in\sreserve)\b|\s?(?:余り|あまり)", re.IGNORECASE
)
_IN_MONEY = lazy_pattern(r".\s?(?:€|\$|euros?\b|dollars?\b|円|원|元)", re.IGNORECASE)
_GIVEN_BACK = lazy_pattern(
    r"\s?(?:€|\$|euros?|dollars?)?\s?(?:(?:in|de)\s)?(?:zurück|change|back|vuelta|cambio|monnaie)\b|(?:円|원|元)(?:の?おつり|거스름)",
    re.IGNORECASE,
)
_CHANGE_BEFORE = lazy_pattern(
    r"(?:おつり|お釣り|釣り銭|거스름돈|找零|change\sis|rückgeld\sist)[はがの은는이]?\s?\Z", re.IGNORECASE
)
_NOTHING_LEFT = lazy_pattern(
    r"\s?(?:[^\s\d.,;]{1,16}\s){0,2}?(?:left|remain\w*|übrig|rest\w*|sobr\w+|qued\w+)\b|\s?[個个本枚개]?\s?(?:余|残|剩|남)",
    re.IGNORECASE,
)
_REMAINDER_BEFORE = lazy_pattern(
    r"\b(?:remainder|rest|reste|resto)\s(?:(?:of|is|von|de|est|es)\s)?\Z|(?:余り|나머지(?:는)?|余数?为?)\s?\Z",
    re.IGNORECASE,
)
_REMAINDER_ASKED = lazy_pattern(
    r"\b(?:left|remain\w*|over|spare|back|change|zurück|rückgeld|wechselgeld|vuelta|cambio|monnaie|rend\w*|übrig|rest\w*|bleib\w*|sobr\w+|qued\w+)\b|余|残|剩|남|나머지|おつり|お釣り|釣り銭|거스름|找零|找回",
    re.IGNORECASE,
)


def without_unasked(text: str, numbers: list[FoundNumber], question: str) -> list[FoundNumber]:
    """The numbers that may answer the question."""
    if len(numbers) < 2 or len(text) > MAX_TEXT or len(question) < 3:
        return numbers
    asked = last_question(question)
    left = numbers
    for find in (_taken_back, _denied, _in_other_cases, _of_others, _unasked, _of_all, of_other_units, _restated):
        aside = [number for number in find(text, left, question) if not _is_result(text, number, asked)]
        left = _without(left, aside, question)
    return left


def _is_result(text: str, number: FoundNumber, asked: str) -> bool:
    """'= 18' is the answer or a step to it, unless it is a mean that nobody asks for."""
    return role_of(text, number) is NumberRole.RESULT and not _is_mean(text, number, asked)


def _denied(text: str, numbers: list[FoundNumber], _: str) -> list[FoundNumber]:
    return [number for number in numbers if is_denied(text, number.start, number.end)]


def _unasked(text: str, numbers: list[FoundNumber], question: str) -> list[FoundNumber]:
    asked = last_question(question)
    return [number for number in numbers if _is_mean(text, number, asked) or _is_unasked(text, number, asked)]


def _without(numbers: list[FoundNumber], aside: list[FoundNumber], question: str) -> list[FoundNumber]:
    """Those left, where one among them is new."""
    left = [number for number in numbers if number not in aside]
    return left if aside and without_given(left, question) else numbers


def _parts(text: str, ends: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    return pairwise(sorted({0, *(found.end() for found in ends.finditer(text)), len(text)}))


def _taken_back(text: str, numbers: list[FoundNumber], _: str) -> list[FoundNumber]:
    """'I believe 105, no, wait, 115'."""
    last = max((found.start() for found in CORRECTION.finditer(text) if not WEAK.fullmatch(found[0])), default=0)
    return [number for number in numbers if number.start < last]


def _in_other_cases(text: str, numbers: list[FoundNumber], question: str) -> list[FoundNumber]:
    """'8 bags. If she had 54 rolls, she would need 9', '15; con cajas de 10 serían 12'."""
    if not names_numbers(question):
        return []
    aside = list[FoundNumber]()
    for start, end in _parts(text, _STATEMENT_END):
        inside = [number for number in numbers if start <= number.start < end]
        since = end
        for begin, stop in _parts(text[start:end], _CLAUSE_END):
            if _CASE.match(text, start + begin, end) and _has_new(
                inside, start + begin, end, question, stop=start + stop
            ):
                since = start + begin
                break
        if UNREAL.search(text, start, end):
            opening = _CONDITION.search(text, start, end)
            if opening and _is_other_case(text, inside, opening, start, end, question):
                since = start
        aside += [number for number in inside if number.start >= since]
    return aside or _under_other_circumstances(text, numbers, question)


def _under_other_circumstances(text: str, numbers: list[FoundNumber], question: str) -> list[FoundNumber]:
    """'In 5 hours 60 km; in 6 hours 75' where the question is about 5 hours."""
    clauses = [
        [number for number in numbers if start <= number.start < end] for start, end in _parts(text, _CLAUSE_END)
    ]
    cases = [inside for inside in clauses if len(inside) == 2 and role_of(text, inside[0]) is NumberRole.CIRCUMSTANCE]
    others = [inside for inside in cases if without_given(inside[:1], question)]
    return [number for inside in others for number in inside] if others and len(others) < len(cases) else []


def _has_new(numbers: list[FoundNumber], start: int, end: int, question: str, *, stop: int) -> bool:
    """Whether the case has a number of its own, and something follows from it."""
    said = [number for number in numbers if start <= number.start < end]
    return len(said) > 1 and said[0].start < stop and bool(without_given(said[:1], question))


def _is_other_case(
    text: str, numbers: list[FoundNumber], opening: re.Match[str], start: int, end: int, question: str
) -> bool:
    """By a number of its own: 'in 4 hours it would be 72'; or as what would be so 'if …' without one."""
    comma = next(_parts(text[opening.start() : end], _CLAUSE_END), (0, end - opening.start()))[1] + opening.start()
    inside = [number for number in numbers if opening.start() <= number.start < comma]
    if inside and len(numbers) > 1:
        return bool(without_given(inside[:1] if len(inside) == len(numbers) else inside, question))
    is_behind = bool(numbers) and numbers[-1].start < opening.start() and opening[0].lower() in _IF
    return not inside and (is_behind or (start > 0 and len(UNREAL.findall(text, start, end)) > 1))


def _of_others(text: str, numbers: list[FoundNumber], _: str) -> list[FoundNumber]:
    """'Some books say 206', 'someone wrote 8'."""
    aside = list[FoundNumber]()
    for start, end in _parts(text, _CLAUSE_END):
        view = VIEW.search(text, start, end)
        if view and TURN.search(text, view.end(), end) is None:
            aside += [number for number in numbers if view.start() <= number.start < end]
    return aside


def _is_mean(text: str, number: FoundNumber, asked: str) -> bool:
    floor = max(0, number.start - 24)
    line = max(floor, text.rfind("\n", floor, number.start) + 1)
    return _MEAN.search(text, line, number.start) is not None and not _MEAN.search(asked)


def _is_unasked(text: str, number: FoundNumber, asked: str) -> bool:
    """A difference, a saving or a remainder where the question asks for none."""
    floor = max(0, number.start - 24)
    is_difference = _DIFFERENCE.search(text, floor, number.start) or _MORE_THAN.match(text, number.end)
    if is_difference and not _DIFFERENCE_ASKED.search(asked):
        return True
    if (_SAVING.search(text, floor, number.start) or _SAVED.match(text, number.end)) and not _SAVING_ASKED.search(
        asked
    ):
        return True
    if _REMAINDER_ASKED.search(asked):
        return False
    is_money = _IN_MONEY.match(text, number.end - 1)
    if is_money and (_GIVEN_BACK.match(text, number.end) or _CHANGE_BEFORE.search(text, floor, number.start)):
        return True
    is_over = _OVER.match(text, number.end) or _REMAINDER_BEFORE.search(text, floor, number.start)
    return bool(is_over) or (number.value == 0 and _NOTHING_LEFT.match(text, number.end) is not None)


def _restated(text: str, numbers: list[FoundNumber], question: str) -> list[FoundNumber]:
    """'0.2 A, i.e. 200 mA': the same amount in a unit that the question does not name."""
    aside = list[FoundNumber]()
    for number, other in pairwise(numbers):
        unit = _UNIT.match(text, other.end)
        lead = _THAT_IS.search(text, number.end, other.start)
        if unit and lead and _is_power_of_ten(number.value, other.value) and unit[1] not in last_question(question):
            aside.append(other)
    return aside


def _is_power_of_ten(one: float, other: float) -> bool:
    if 0 in (one, other) or one == other:
        return False
    exponent = math.log10(abs(other / one)) if max(abs(one), abs(other)) < MAX_AMOUNT else 0.5
    return abs(exponent - round(exponent)) < 1e-9


def _of_all(text: str, numbers: list[FoundNumber], question: str) -> list[FoundNumber]:
    """'Tom: 42. Ann: 14. Together: 56', where the question asks about one of them."""
    asked = last_question(question)
    if _JOINT.search(asked) or _ANY_TOTAL.search(asked):
        return []
    return [
        number
        for start, end in _parts(text, _SENTENCE_OR_COMMA)
        if _JOINT.search(text, start, end)
        for number in numbers
        if start <= number.start < end and _is_sum_with_given(number, numbers, question)
    ]


def _is_sum_with_given(total: FoundNumber, numbers: list[FoundNumber], question: str) -> bool:
    """Whether it is the answer and a number of the question together."""
    parts = [number.value for number in without_given(numbers, question) if number.value != total.value]
    return any(is_given(total.value - part, question) for part in parts)
