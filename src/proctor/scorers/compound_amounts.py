"""Amounts of two units and halves in words, made one number: 2 euros and 50 cents, 1 hour 30, two litres and a half."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

from proctor.scorers.asked_words import last_question
from proctor.scorers.lazy_pattern import lazy_pattern
from proctor.scorers.number_words import spelt_at

MAX_TEXT = 2000
"""What a longer text says in two units is part of its working."""
_LATIN = r"[a-zß-ÿœ]{2,24}(?:[ -][a-zß-ÿœ]{2,12}){0,2}"
_SIGNS = r"[〇零一二两兩三四五六七八九十百]{1,5}"
_MANY = rf"(?<![\w.,])(?P<many>\d{{1,9}}|{_LATIN})|(?<![\d.,])(?P<more>\d{{1,9}})|(?P<signs>{_SIGNS})"
_FEW = rf"(?P<few>\d{{1,4}}|{_LATIN}|{_SIGNS})"
_JOINT = r"(?:\s?,?\s?(?:and|und|et|y|con|mit|avec)\s|,?\s?)"


@dataclass(frozen=True, slots=True)
class UnitPair:
    """A unit, the smaller one that follows it, and how many of those it holds."""

    big: str
    small: str
    ratio: int
    is_only_if_asked: bool = False
    """Of hours and minutes a question may ask for either."""

    def pattern(self) -> str:
        return rf"(?:{_MANY})\s?(?P<big>{self.big}){_JOINT}{_FEW}\s?(?P<small>{self.small})"


def _words(words: str) -> str:
    return rf"(?:{words})(?![a-zß-ÿœ])"


PAIRS = (
    UnitPair(
        _words(r"euros?|€|dollars?|dólares?|dólar|pounds?|pfund|livres?|libras?|francs?|franken|pesos?")
        + "|ユーロ|ドル|ポンド|유로|달러|파운드|欧元|美元|英镑|元|块钱?",
        _words("cents?|ct|pence|pennies|penny|centimes?|céntimos?|centavos?|rappen")
        + "|セント|センチーム|센트|美分|欧分|分",
        100,
    ),
    UnitPair("元|块钱?", "[角毛]", 10),
    UnitPair(
        _words("m|met(?:re|er)s?|mètres?|metros?") + "|メートル|미터|米",
        _words("cm|centimet(?:re|er)s?|zentimetern?|centimètres?|centímetros?")
        + "|センチ(?:メートル)?|센티미터|센티|厘米|公分",
        100,
    ),
    UnitPair(
        _words("km|kilomet(?:re|er)s?|kilometern?|kilomètres?|kilómetros?") + "|キロメートル|킬로미터|千米|公里",
        _words("m|met(?:re|er)s?|metern|mètres?|metros?") + "|メートル|미터|米",
        1000,
    ),
    UnitPair(
        _words("kg|kilos?|kilograms?|kilogrammes?|kilogramm|kilogramos?") + "|キログラム|キロ|킬로그램|킬로|千克|公斤",
        _words("g|grams?|grammes?|gramm|gramos?") + "|グラム|그램|克",
        1000,
    ),
    UnitPair(
        _words("h|hrs?|hours?|stunden?|std|heures?|horas?") + "|時間|시간|个?小时",
        _words("min|mins|minutes?|minuten|minutos?") + r"|分(?:間|钟)?|분|(?<=\d\d)(?=[.,;\s]|\Z)",
        60,
        is_only_if_asked=True,
    ),
    UnitPair(
        _words("min|mins|minutes?|minuten|minutos?") + "|分間?|분|分钟",
        _words("s|secs?|seconds?|sekunden?|secondes?|segundos?") + "|秒|초",
        60,
        is_only_if_asked=True,
    ),
    UnitPair(
        _words("years?|jahren?|ans?|années?|años?") + "|年|년",
        _words("months?|monaten?|mois|mes(?:es)?") + "|[かヶ]月|개월|个月",
        12,
        is_only_if_asked=True,
    ),
)
_ANY_PAIR = tuple((pair, lazy_pattern(pair.pattern(), re.IGNORECASE)) for pair in PAIRS)
_BIG = tuple(lazy_pattern(pair.big, re.IGNORECASE) for pair in PAIRS)
_WORD = lazy_pattern(r"[A-Za-z]+")
_ASKING = (
    r"(?:\b(?:how\s(?:many|much)|wie\s?viele?|cuánt[oa]s?|in|en)\s|combien\sd(?:e\s|['’])|何|몇\s?|多少|几)"
    r"(?:more\s|whole\s|full\s)?"
)
_ASKED_UNITS = tuple(
    (
        lazy_pattern(rf"{_ASKING}(?:{pair.big})", re.IGNORECASE),
        lazy_pattern(rf"{_ASKING}(?:{pair.small})", re.IGNORECASE),
    )
    for pair in PAIRS
)
_AT_END = r"(?=[.!]?\s*(?:\Z|\n)|[.,;]\s)"
_BARE_CENTS = lazy_pattern(
    rf"(?P<whole>\d(?<![\d.,]\d)\d{{,5}})\s?(?P<unit>euros?|€|dollars?|m)\s?(?P<rest>\d\d){_AT_END}", re.IGNORECASE
)
"""'13 Euro 20', '4 € 50', '1 m 80'."""
_BARE_TENTHS = lazy_pattern(
    r"(?P<whole>\d{1,6}|[一二两兩三四五六七八九十]{1,3})块(?P<rest>[\d一二三四五六七八九])(?=[。！，,.]|\Z|\n)"
)
"""'四块五'."""
_POINT = lazy_pattern(rf"(?<![午早晚上夜])(?P<whole>{_SIGNS})点(?P<rest>[〇零一二三四五六七八九]{{1,6}})(?![分刻十个])")
"""'二点五'."""
_SPOKEN_POINT = lazy_pattern(rf"(?P<many>{_LATIN}) (?:point|komma|coma|virgule|punto) (?P<few>{_LATIN})", re.IGNORECASE)
"""'Six point four', 'sechs Komma vier'."""
_POINT_WORDS = (" point ", " komma ", " coma ", " virgule ", " punto ")
_MILLIONS = lazy_pattern(
    rf"\b(?P<many>{_LATIN}) (?:million(?:en|e?s)?|millón|millones) (?:(?:and|und|et|y) )?(?P<few>{_LATIN})",
    re.IGNORECASE,
)
_HALF_MILLION = lazy_pattern(
    r"\b(?:half an?|eine halbe|un demi[- ]|medio) ?(?P<unit>million(?:es)?|millón|thousand)\b", re.IGNORECASE
)
_DIGITS = {sign: str(value) for value, sign in enumerate("零一二三四五六七八九")} | {"〇": "0"}
_NUMBER_AND_HALF = lazy_pattern(
    r"(?P<count>\d(?<![\d.,/]\d)\d{,5})\s(?:and\sa\shalf|ein\s?halb|und\sein\shalbe[rsn]?|et\sdemie?|y\smedi[oa])\b",
    re.IGNORECASE,
)
_ONE_AND_HALF = lazy_pattern(
    r"\b(?:an?|one|une?|un[oa]?)\s(?P<unit>[^\W\d_]{3,12})\s(?:and\sa\shalf|et\sdemie?|y\smedi[oa])\b"
    r"|(?:\A|(?<=[\n:]))[\s*]*(?P<bare>litro|metro|kilo|kilómetro|hora|euro|año|mes|día|docena)\sy\smedi[oa]\b"
    r"|\beine?n?\sund\seine?n?\shalbe[rsnm]?\s(?P<german>[^\W\d_]+)",
    re.IGNORECASE,
)
"""'Un litre et demi', 'litro y medio', 'ein und ein halber Liter'."""
_HALF = lazy_pattern(
    r"\A\W*(?:an?|one)\shalf\W*\Z|\b(?:half\s(?:an?|of\san?)\s[^\W\d_]{2,12}|an?\shalf[ -][^\W\d_]{2,12}"
    r"|eine?[nmr]?\shalbe[nmrs]?\s[^\W\d_]{2,14}"
    r"|une?\sdemie?[- ][^\W\d_]{2,12}|(?<!y\s)medi[oa]\s(?:litro|metro|kilo|kilómetro|hora|euro|año|día)\b)"
    r"|(?<![\w])半(?:メートル|リットル|キロ|時間|分|日|年|个小时|小时|米|升|公斤|千克|天|元)"
    r"|(?<![가-힣])반\s?(?:시간|미터|리터|킬로)",
    re.IGNORECASE,
)
_NOT_ONLY_HALF = lazy_pattern(
    r"\b(?:not|no|nicht|pas|quarter|third|viertel|quart|cuarto|and\sa\shalf|und\sein)\b|不|ない|아니", re.IGNORECASE
)
MAX_HALF = 80
_ONE = frozenset({"a", "an", "one", "ein", "eine", "einen", "un", "une", "una"})


def join_amounts(text: str, question: str) -> str:
    """The text with amounts of two units as one number, of the unit that is asked for."""
    if len(text) > MAX_TEXT:
        return text
    for index in _units_named(text):
        (pair, pattern), is_small = _ANY_PAIR[index], _sizes_asked(question)[index]
        if is_small is not None or not pair.is_only_if_asked:
            text = pattern.sub(partial(_joined, pair=pair, is_small=bool(is_small)), text)
    text = _BARE_CENTS.sub(r"\g<whole>.\g<rest> \g<unit>", text)
    lowered = text.lower()
    if "hal" in lowered or "dem" in lowered or "med" in lowered:  # half, halb, demi, medio
        text = _ONE_AND_HALF.sub(lambda found: f"1.5 {found['unit'] or found['bare'] or found['german']}", text)
        text = _NUMBER_AND_HALF.sub(r"\g<count>.5", text)
    if any(word in lowered for word in _POINT_WORDS):
        text = _SPOKEN_POINT.sub(_with_spoken_point, text)
    if "mill" in lowered or "thousand" in lowered:
        text = _HALF_MILLION.sub(r"0.5 \g<unit>", _MILLIONS.sub(_with_thousands, text))
    if not text.isascii():
        text = _POINT.sub(_with_point, _BARE_TENTHS.sub(_with_point, text))
    return text


def stands_for_half(text: str) -> bool:
    """Whether a short text without a number says 'half a litre'."""
    return len(text) <= MAX_HALF and _HALF.search(text) is not None and _NOT_ONLY_HALF.search(text) is None


def _units_named(text: str) -> Sequence[int]:
    """The pairs whose bigger unit may be in a text; searching for both units takes long."""
    if not text.isascii():
        return range(len(PAIRS))
    return sorted(set().union(*map(_pairs_of, set(_WORD.findall(text)))))


@lru_cache(maxsize=4096)
def _pairs_of(word: str) -> frozenset[int]:
    """The pairs whose bigger unit the word is."""
    return frozenset(index for index, big in enumerate(_BIG) if big.fullmatch(word))


@lru_cache(maxsize=1024)
def _sizes_asked(question: str) -> tuple[bool | None, ...]:
    """Of each pair whether the smaller unit is asked for; None where neither is."""
    asked = last_question(question)
    return tuple(_is_small_asked(big.search(asked), small.search(asked)) for big, small in _ASKED_UNITS)


def _is_small_asked(big: re.Match[str] | None, small: re.Match[str] | None) -> bool | None:
    if big and small:
        return small.start() < big.start()
    return small is not None if big or small else None


def _joined(found: re.Match[str], *, pair: UnitPair, is_small: bool) -> str:
    before, many = _last_amount(found["many"] or found["more"] or found["signs"])
    few = _amount(found["few"])
    if many is None or few is None or few >= pair.ratio:
        return found[0]
    total = many * pair.ratio + few
    if is_small:
        return f"{before}{total} {found['small']}"
    value = f"{total / pair.ratio:.15g}"
    # Three decimals behind a point would be thousands where a comma is the decimal sign.
    value += "0" if re.search(r"\.\d{3}\Z", value) else ""
    return f"{before}{value} {found['big']}"


def _last_amount(said: str) -> tuple[str, int | None]:
    """Of 'each gets two' the words before the number, and the number."""
    for found in re.finditer(r"(?<![^\s])\S", said):
        value = _amount(said[found.start() :])
        if value is not None:
            return said[: found.start()], value
    return "", None


def _amount(said: str) -> int | None:
    if said.isdecimal():
        return int(said)
    if said.lower() in _ONE:
        return 1
    spelt = spelt_at(said, 0)
    return int(spelt.value) if spelt and spelt.end == len(said) and spelt.value == int(spelt.value) else None


def _with_spoken_point(found: re.Match[str]) -> str:
    before, whole = _last_amount(found["many"])
    rest = spelt_at(found["few"], 0)
    if whole is None or rest is None:
        return found[0]
    return f"{before}{whole}.{rest.value:.0f}{found['few'][rest.end :]}"


def _with_thousands(found: re.Match[str]) -> str:
    """'One million two hundred thousand' as one number."""
    before, millions = _last_amount(found["many"])
    rest = spelt_at(found["few"], 0)
    if millions is None or rest is None or not 1 <= rest.value < 10**6:
        return found[0]
    return f"{before}{millions * 10**6 + rest.value:.0f}{found['few'][rest.end :]}"


def _with_point(found: re.Match[str]) -> str:
    whole, rest = _amount(found["whole"]), "".join(_DIGITS.get(sign, sign) for sign in found["rest"])
    return found[0] if whole is None else f"{whole}.{rest}0 "
