"""Which of several numbers has the unit that the question asks for: '1.5 hours, or 90 minutes'."""

from __future__ import annotations

import re
from functools import lru_cache

from proctor.scorers.asked_words import last_question
from proctor.scorers.lazy_pattern import lazy_pattern
from proctor.scorers.numbers import FoundNumber

_UNITS = {
    "speed": r"km/h|kph|kilomet(?:re|er)s?\s(?:per|an)\shour|kilometer\spro\sstunde|kilomètres\spar\sheure"
    r"|kilómetros\spor\shora",
    "metres_second": r"m/s",
    "miles_hour": r"mph|miles\s(?:per|an)\shour",
    "square": r"(?:cm|m|km|mm)[²2]|square\s\w+|quadrat\w+"
    r"|(?:centi)?mètres\scarrés|(?:centí)?metros\scuadrados|平方\w{1,2}",
    "hour": r"h|hrs?|hours?|stunden?|heures?|horas?|時間|시간|个?小时",
    "minute": r"min|mins|minutes?|minuten|minutos?|分間?|분|分钟",
    "second": r"s|secs?|seconds?|sekunden?|secondes?|segundos?|秒|초",
    "day": r"days?|tagen?|tage|jours?|días?|天|일",
    "week": r"weeks?|wochen?|semaines?|semanas?|週間|周|주",
    "kilometre": r"km|kilomet(?:re|er)s?|kilometern?|kilomètres?|kilómetros?|千米|公里|キロメートル|킬로미터",
    "metre": r"m|met(?:re|er)s?|metern|mètres?|metros?|メートル|미터|米",
    "centimetre": r"cm|centimet(?:re|er)s?|zentimetern?|centimètres?|centímetros?|センチ(?:メートル)?|센티미터|厘米",
    "kilogram": r"kg|kilos?|kilogram\w*|公斤|千克|キログラム|킬로그램",
    "gram": r"g|gram(?:s|mes?|m|os?)?|グラム|그램|克",
    "euro": r"euros?|€|dollars?|dólares|dolares|pounds?|pfund|livres|francs?|franken|pesos?|달러|ドル|美元"
    r"|유로|ユーロ|欧元",
    "cent": r"cents?|ct|centimes?|céntimos?|セント|센트",
}
_ALIKE = (
    frozenset({"speed", "metres_second", "miles_hour"}),
    frozenset({"second", "minute", "hour", "day", "week"}),
    frozenset({"kilometre", "metre", "centimetre"}),
    frozenset({"kilogram", "gram"}),
    frozenset({"euro", "cent"}),
)
"""Units of one kind of amount."""
_EACH = "|".join(rf"(?P<{name}>{words})" for name, words in _UNITS.items())
_END = r"(?![a-zß-ÿ/²])"
_UNIT_BEHIND = lazy_pattern(rf"\s?(?:{_EACH}){_END}", re.IGNORECASE)
_ASKED = lazy_pattern(
    r"(?:\b(?:how\smany|wie\sviele|cuánt[oa]s|in|en)\s|\bcombien\sd(?:e\s|['’])|何|몇\s?|多少|几)"
    rf"(?:{_EACH}){_END}",
    re.IGNORECASE,
)
MAX_TEXT = 240
_CURRENCIES = "$€£¥"


def of_unit_asked(text: str, numbers: list[FoundNumber], question: str) -> FoundNumber | None:
    """The only one with the unit that is asked for, where every other has another unit."""
    if len(numbers) < 2 or len(text) > MAX_TEXT or (asked := _unit_asked(question)) is None:
        return None
    units = [found.lastgroup if (found := _UNIT_BEHIND.match(text, number.end)) else None for number in numbers]
    if None in units or units.count(asked) != 1:
        return None
    return numbers[units.index(asked)]


def of_other_units(text: str, numbers: list[FoundNumber], question: str) -> list[FoundNumber]:
    """Those with another unit than the one asked for: '1440 – das sind 86.400 Sekunden' where minutes are asked for."""
    if (asked := _unit_asked(question)) is None:
        return []
    others = next((units for units in _ALIKE if asked in units), frozenset()) - {asked}
    return [number for number in numbers if _unit_of(text, number) in others]


def _unit_of(text: str, number: FoundNumber) -> str | None:
    if number.text[0] in _CURRENCIES:
        return "euro"
    found = _UNIT_BEHIND.match(text, number.end)
    return found.lastgroup if found else None


@lru_cache(maxsize=1024)
def _unit_asked(question: str) -> str | None:
    """None where a question asks for none, or for several."""
    asked = {found.lastgroup for found in _ASKED.finditer(last_question(question))}
    return asked.pop() if len(asked) == 1 else None
