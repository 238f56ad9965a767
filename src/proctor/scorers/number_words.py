"""Numbers written in words: twenty-four, two hundred and fifty, two-thirds, zwölf, 三十五."""

from __future__ import annotations

import re
from collections.abc import Iterator

from proctor.scorers.numbers import Number

_ENGLISH = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen twenty"
)
_GERMAN = (
    "null . zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn"
    " achtzehn neunzehn zwanzig"
)
_FRENCH = "zéro . deux trois quatre cinq . sept huit neuf dix onze douze treize quatorze quinze seize . . . vingt"
_SPANISH = (
    "cero . dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete"
    " dieciocho diecinueve veinte"
)
_TENS = "thirty forty fifty sixty seventy eighty ninety"
_SMALL = {
    **{
        word: value
        for names in (_ENGLISH, _GERMAN, _FRENCH, _SPANISH)
        for value, word in enumerate(names.split())
        if word != "."
    },
    **{word: 30 + 10 * place for place, word in enumerate(_TENS.split())},
}
_MULTIPLES = {"hundred": 10**2, "thousand": 10**3, "million": 10**6, "billion": 10**9}
_PARTS = {
    "half": 2,
    "halves": 2,
    "third": 3,
    "quarter": 4,
    "fourth": 4,
    "fifth": 5,
    "sixth": 6,
    "eighth": 8,
    "tenth": 10,
}
_DIGITS = {**{sign: value for value, sign in enumerate("零一二三四五六七八九")}, "〇": 0, "两": 2, "兩": 2}
_POWERS = {"十": 10, "百": 100, "千": 1000, "万": 10**4, "萬": 10**4}

_FIRST = "|".join(sorted(_SMALL, key=len, reverse=True))
_ANY = "|".join(sorted((*_SMALL, *_MULTIPLES), key=len, reverse=True))
_SPELT = re.compile(
    rf"(?<![\w-])(?P<minus>(?:minus|negative)\ )?"
    rf"(?P<words>(?:{_FIRST}|a\ (?:hundred|thousand|million))(?:[ -](?:and\ )?(?:{_ANY}))*)"
    rf"(?:[ -](?P<part>{'|'.join(_PARTS)})s?|\ and\ a\ (?P<more>half|quarter))?(?![\w-])"
    # 一共 'altogether', 一起 'together' and 三角 'triangle' are words, and 第三 is a place in a row.
    r"|(?<!第)(?P<signs>[〇零一二两兩三四五六七八九十百千万萬]+)(?![共起样樣定些直般旦切部角边邊])",
    re.IGNORECASE,
)
_JUST = re.compile(r"(?:\b(?:only|just|exactly) |只有|仅)$", re.IGNORECASE)
_BETWEEN_WORDS = re.compile(r"[ -](?:and )?")


def spelt_at(text: str, position: int) -> Number | None:
    """The number that is spelt out from this place on."""
    found = _SPELT.match(text, position)
    return _read(found) if found else None


def find_spelt(text: str, start: int = 0, end: int | None = None) -> Iterator[Number]:
    """The numbers spelt out in a text; a lone 'one' only where it is 'only one', for it mostly stands for a thing."""
    for found in _SPELT.finditer(text, start, len(text) if end is None else end):
        if found[0].lower() not in ("one", "一") or _JUST.search(text, max(0, found.start() - 9), found.start()):
            yield _read(found)


def _read(found: re.Match[str]) -> Number:
    value: int | float
    if found["signs"]:
        value = _signed(found["signs"])
    else:
        value = _worded(found["words"].lower())
        if found["part"]:
            value = value / _PARTS[found["part"].lower()]
        elif found["more"]:
            value = value + 1 / _PARTS[found["more"].lower()]
        value = -value if found["minus"] else value
    return Number(value, found[0], found.start(), found.end())


def _worded(words: str) -> int:
    total = current = 0
    for word in _BETWEEN_WORDS.split(words.removeprefix("a ")):
        if word in _SMALL:
            current += _SMALL[word]
        elif word == "hundred":
            current = max(current, 1) * 100
        else:
            total, current = total + max(current, 1) * _MULTIPLES[word], 0
    return total + current


def _signed(signs: str) -> int:
    total = section = digit = 0
    for sign in signs:
        if sign in _DIGITS:
            digit = _DIGITS[sign]
        elif _POWERS[sign] == 10**4:
            total, section, digit = total + (section + digit) * 10**4, 0, 0
        else:
            section, digit = section + max(digit, 1) * _POWERS[sign], 0
    return total + section + digit
