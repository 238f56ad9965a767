"""Whole numbers from 2 to 9,999 spelled out in seven languages, as a reader of them has to expect them."""

from __future__ import annotations

_EN = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_EN_TENS = ["_", "_", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_DE = [
    "null",
    "ein",
    "zwei",
    "drei",
    "vier",
    "fünf",
    "sechs",
    "sieben",
    "acht",
    "neun",
    "zehn",
    "elf",
    "zwölf",
    "dreizehn",
    "vierzehn",
    "fünfzehn",
    "sechzehn",
    "siebzehn",
    "achtzehn",
    "neunzehn",
]
_DE_TENS = ["_", "_", "zwanzig", "dreißig", "vierzig", "fünfzig", "sechzig", "siebzig", "achtzig", "neunzig"]
_ES = [
    "cero",
    "una",
    "dos",
    "tres",
    "cuatro",
    "cinco",
    "seis",
    "siete",
    "ocho",
    "nueve",
    "diez",
    "once",
    "doce",
    "trece",
    "catorce",
    "quince",
    "dieciséis",
    "diecisiete",
    "dieciocho",
    "diecinueve",
    "veinte",
    "veintiuna",
    "veintidós",
    "veintitrés",
    "veinticuatro",
    "veinticinco",
    "veintiséis",
    "veintisiete",
    "veintiocho",
    "veintinueve",
]
_ES_TENS = ["_", "_", "_", "treinta", "cuarenta", "cincuenta", "sesenta", "setenta", "ochenta", "noventa"]
_ES_HUNDREDS = [
    "_",
    "ciento",
    "doscientas",
    "trescientas",
    "cuatrocientas",
    "quinientas",
    "seiscientas",
    "setecientas",
    "ochocientas",
    "novecientas",
]
_FR = [
    "zéro",
    "une",
    "deux",
    "trois",
    "quatre",
    "cinq",
    "six",
    "sept",
    "huit",
    "neuf",
    "dix",
    "onze",
    "douze",
    "treize",
    "quatorze",
    "quinze",
    "seize",
    "dix-sept",
    "dix-huit",
    "dix-neuf",
]
_FR_TENS = [
    "_",
    "_",
    "vingt",
    "trente",
    "quarante",
    "cinquante",
    "soixante",
    "soixante",
    "quatre-vingt",
    "quatre-vingt",
]
_HAN = "零一二三四五六七八九"
_SINO = "영일이삼사오육칠팔구"


def spelled(number: int, language: str) -> str:
    """The number in words."""
    return {"en": _en, "de": _de, "es": _es, "fr": _fr, "ko": _ko, "ja": _ja, "zh": _zh}[language](number)


def _en(number: int) -> str:
    if number >= 1000:
        rest = number % 1000
        return f"{_en(number // 1000)} thousand" + (f" {'and ' if rest < 100 else ''}{_en(rest)}" if rest else "")
    if number >= 100:
        return f"{_EN[number // 100]} hundred" + (f" and {_en(number % 100)}" if number % 100 else "")
    if number < 20:
        return _EN[number]
    return _EN_TENS[number // 10] + (f"-{_EN[number % 10]}" if number % 10 else "")


def _de(number: int) -> str:
    if number >= 1000:
        return f"{_de(number // 1000)}tausend" + (_de(number % 1000) if number % 1000 else "")
    if number >= 100:
        return f"{_DE[number // 100]}hundert" + (_de(number % 100) if number % 100 else "")
    if number < 20:
        return _DE[number]
    return (f"{_DE[number % 10]}und" if number % 10 else "") + _DE_TENS[number // 10]


def _es(number: int) -> str:
    if number >= 1000:
        thousands = "mil" if number < 2000 else f"{_es(number // 1000)} mil"
        return thousands + (f" {_es(number % 1000)}" if number % 1000 else "")
    if number == 100:
        return "cien"
    if number > 100:
        return _ES_HUNDREDS[number // 100] + (f" {_es(number % 100)}" if number % 100 else "")
    if number < 30:
        return _ES[number]
    return _ES_TENS[number // 10] + (f" y {_ES[number % 10]}" if number % 10 else "")


def _fr(number: int) -> str:
    if number >= 1000:
        thousands = "mille" if number < 2000 else f"{_fr(number // 1000)} mille"
        return thousands + (f" {_fr(number % 1000)}" if number % 1000 else "")
    if number >= 100:
        hundreds = "cent" if number < 200 else f"{_FR[number // 100]} cent"
        plural = "s" if number >= 200 and not number % 100 else ""
        return hundreds + plural + (f" {_fr(number % 100)}" if number % 100 else "")
    if number < 20:
        return _FR[number]
    ten, rest = _FR_TENS[number // 10], number % 10 + (10 if number // 10 in (7, 9) else 0)
    if not rest:
        return ten + ("s" if ten == "quatre-vingt" else "")
    return f"{ten} et {_FR[rest]}" if rest in (1, 11) and number < 80 else f"{ten}-{_FR[rest]}"


def _characters(number: int, digits: str, scales: str, *, is_one_said: bool) -> str:
    found = ""
    for place in range(3, -1, -1):
        digit = number // 10**place % 10
        if digit and place:
            found += ("" if digit == 1 and not is_one_said else digits[digit]) + scales[place - 1]
        elif digit:
            found += digits[digit]
    return found


def _ko(number: int) -> str:
    return _characters(number, _SINO, "십백천", is_one_said=False)


def _ja(number: int) -> str:
    return _characters(number, _HAN, "十百千", is_one_said=False)


def _zh(number: int) -> str:
    """Without the sign for zero between the places, which is tested for itself."""
    return _characters(number, _HAN, "十百千", is_one_said=True)
