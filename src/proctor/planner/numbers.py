"""Numbers, in digits and in the words of seven languages."""

from __future__ import annotations

import re
from functools import cache

from proctor.domain.errors import UserError
from proctor.planner.characters import HALF_SIGNS, number_in_characters
from proctor.planner.words import MAX_DIGITS, Token, without_accents


def _words(text: str) -> list[str]:
    return text.split()


_EN = dict(zip(_words(
        "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
        "sixteen seventeen eighteen nineteen"
    ), range(1, 20), strict=True)) | dict(
    zip(_words(
        "twenty thirty forty fifty sixty seventy eighty ninety"
    ), range(20, 100, 10), strict=True)
)  # fmt: skip
_ES = dict(zip(_words(
        "uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis "
        "diecisiete dieciocho diecinueve veinte veintiuno veintidós veintitrés veinticuatro veinticinco "
        "veintiséis veintisiete veintiocho veintinueve"
    ), range(1, 30), strict=True)) | dict(
    zip(_words(
        "treinta cuarenta cincuenta sesenta setenta ochenta noventa"
    ), range(30, 100, 10), strict=True)
)  # fmt: skip
_ES |= dict(zip(_words(
        "cien doscientos trescientos cuatrocientos quinientos seiscientos setecientos ochocientos "
        "novecientos"
    ), range(100, 1000, 100), strict=True)) | {"ciento": 100}  # fmt: skip
_ES |= {"veintiuna": 21, "veintiún": 21}
_ES |= {name.replace("ientos", "ientas"): value for name, value in _ES.items() if name.endswith("ientos")}
_FR = dict(zip(_words(
        "deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize"
    ),
               range(2, 17), strict=True)) | {"vingt": 20, "vingts": 20, "trente": 30, "quarante": 40,
               "cinquante": 50, "soixante": 60, "septante": 70, "huitante": 80, "nonante": 90}  # fmt: skip
_ES |= {without_accents(word, "es"): value for word, value in _ES.items()}
_SCALES = {
    "en": {"dozen": 12, "hundred": 100, "thousand": 1000, "k": 1000},
    "es": {"decena": 10, "decenas": 10, "docena": 12, "docenas": 12, "quincena": 15, "veintena": 20, "treintena": 30,
           "cuarentena": 40, "cincuentena": 50, "centenar": 100, "centenares": 100, "mil": 1000,
           "millar": 1000},
    "fr": {"dizaine": 10, "douzaine": 12, "quinzaine": 15, "vingtaine": 20, "trentaine": 30, "quarantaine": 40,
           "cinquantaine": 50, "soixantaine": 60, "centaine": 100, "centaines": 100, "cent": 100, "cents": 100,
           "mille": 1000, "millier": 1000},
}  # fmt: skip
_COUNTS = {
    "en": {"dozen": 12, "dozens": 12, "hundred": 100, "thousand": 1000},
    "de": {"dutzend": 12, "hundert": 100, "tausend": 1000},
    "es": {"docenas": 12, "decenas": 10, "centenares": 100, "mil": 1000, "millares": 1000},
    "fr": {"douzaines": 12, "dizaines": 10, "centaines": 100, "mille": 1000, "milliers": 1000},
}
"""Words that multiply digits before them: `3 dozen`."""
_DOZENS = {"ja": "ダース", "ko": "다스", "zh": "打"}
_ZERO = {"en": ("zero",), "de": ("null",), "es": ("cero",), "fr": ("zéro", "zero")}
_ONES: dict[str, tuple[str, ...]] = {"en": (), "es": ("un", "una", "uno"), "fr": ("un", "une")}
_AND = {"en": "and", "es": "y", "fr": "et"}
_UNITS = {"en": _EN, "es": _ES, "fr": _FR}
_DE_UNITS = dict(zip(_words(
        "ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn "
        "sechzehn siebzehn achtzehn neunzehn"
    ), range(1, 20), strict=True)) | {"eins": 1}  # fmt: skip
_DE_TENS = dict(zip(_words(
        "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig"
    ), range(20, 100, 10),
                    strict=True)) | {"dreissig": 30}  # fmt: skip
_DE_UNITS |= {without_accents(word, "de"): value for word, value in _DE_UNITS.items()}
_DE_TENS |= {without_accents(word, "de"): value for word, value in _DE_TENS.items()}
DIGITS_IN_WORDS = {
    name: {word: value for word, value in (words | dict.fromkeys(_ZERO[name], 0)).items() if value < 10}
    for name, words in {**_UNITS, "de": _DE_UNITS}.items()
}


_COUPLED = frozenset({"dollars", "bucks", "hours", "minutes", "dólares", "horas", "minutos"})
"""A couple of these is two; a couple of questions is a few."""


@cache
def words_of_numbers(language: str) -> frozenset[str]:
    """The words of numbers, which tell a language as other words do."""
    units = {"de": {**_DE_UNITS, **_DE_TENS}, **_UNITS}.get(language, {})
    return frozenset(units) | frozenset(_SCALES.get(language, ())) | frozenset(_COUNTS.get(language, ()))


def _refuse_beyond_digits(number: str | int) -> None:
    digits = len(str(number))
    if digits > MAX_DIGITS:
        raise UserError(f"A number in the query has {digits:,} digits; the most is {MAX_DIGITS}.")


def number_in_digits(text: str, language: str) -> float | int:
    """`1,000` and `1.50`, read as the language writes them; a UserError for more digits than anything here has."""
    _refuse_beyond_digits("".join(filter(str.isdigit, text)))
    thousands, decimal = (",", ".") if language not in ("de", "es", "fr") else (".", ",")
    if re.fullmatch(rf"\d{{1,3}}(?:{re.escape(thousands)}\d{{3}})+(?:{re.escape(decimal)}\d+)?", text):
        text = text.replace(thousands, "")
    text = text.replace(",", ".")
    if text.count(".") > 1:
        text = text.replace(".", "")
    value = float(text)
    return int(value) if value.is_integer() and "." not in text else value


def times_of(tokens: list[Token], at: int, language: str) -> int | None:
    """What the word at this place multiplies digits before it by; None where it does not."""
    token = tokens[at] if at < len(tokens) else None
    if token is None or token.gap != " ":
        return None
    return _COUNTS.get(language, {}).get(token.text, _COUNTS["en"].get(token.text))


_HALVES = {
    "en": (("and", "a", "half"),), "es": (("y", "medio"), ("y", "media")),
    "fr": (("et", "demi"), ("et", "demie")),
}  # fmt: skip
_POINTS = {"en": "point", "de": "komma", "es": "coma", "fr": "virgule"}


def with_fraction(tokens: list[Token], end: int, value: float | int, language: str) -> tuple[int, float | int]:
    """A number with what is said behind it: `two and a half`, `a dozen and a half`, `zero point five`."""
    for name in dict.fromkeys((language, "en")):
        for words in _HALVES.get(name, ()):
            if tuple(token.text for token in tokens[end : end + len(words)]) == words:
                scale = _SCALES[name].get(tokens[end - 1].text, 1)
                return _times(tokens, end + len(words), value + (0.5 if scale == 1 else scale // 2), language)
        if _text(tokens, end) == _POINTS.get(name) and end + 1 < len(tokens):
            digits = _digits_of(tokens, end + 1, name)
            if digits:
                return end + 1 + len(digits), float(f"{int(value)}.{''.join(map(str, digits))}")
    return _times(tokens, end, value, language)


def _times(tokens: list[Token], end: int, value: float | int, language: str) -> tuple[int, float | int]:
    """A number with the dozen, hundred or thousand behind it: `two and a half dozen`, `两打`."""
    factor = times_of(tokens, end, language)
    length = 1
    if factor is None and (name := _DOZENS.get(language)) is not None:
        length = len(name)
        factor = 12 if "".join(token.text for token in tokens[end : end + length]) == name else None
    if factor is None:
        return end, value
    product = round(value * factor, 6)
    return end + length, int(product) if float(product).is_integer() else product


def _digits_of(tokens: list[Token], start: int, language: str) -> list[int]:
    """Digits that follow one another, as they are said behind a decimal point."""
    found: list[int] = []
    for token in tokens[start : start + 3]:
        value = DIGITS_IN_WORDS[language].get(token.text, int(token.text) if token.text.isdigit() else None)
        if value is None or not (value < 10 or not found):
            break
        found.append(value)
    return found


def number_in_words(tokens: list[Token], start: int, language: str) -> tuple[int, float | int, bool] | None:
    """The end, the value, and whether it can stand without a unit; None where no number begins here."""
    token = tokens[start]
    if token.kind == "cjk":
        half = 1 if token.text in HALF_SIGNS else 0
        dozen = _DOZENS.get(language, " ")
        if "".join(one.text for one in tokens[start + half : start + half + len(dozen)]) == dozen:
            return start + half + len(dozen), 6 if half else 12, True
        return number_in_characters(tokens, start)
    if token.kind != "word":
        return None
    for name in dict.fromkeys((language, "en")):
        if token.text in _ZERO.get(name, ()):
            return start + 1, 0, False
        if name == "de" and token.text == "dutzend":
            return start + 1, 12, True
        if name == "de" and _text(tokens, start + 1) == "dutzend" and token.text in ("ein", "einem", "eines"):
            return start + 2, 12, True
        if name == "de" and (value := _german(token.text)) is not None:
            return start + 1, value, value > 1
        if name in _UNITS and (found := _couple(tokens, start, name) or _composed(tokens, start, name)) is not None:
            return *found, found[1] > 1
    return None


_COUPLES = {"en": (("couple", "pair"), "of"), "es": (("par",), "de"), "fr": (("paire",), "de")}


def _couple(tokens: list[Token], start: int, language: str) -> tuple[int, int] | None:
    """`a couple of hundred`, `un par de docenas`, `a couple of dollars`."""
    couples, of = _COUPLES.get(language, ((), ""))
    if tokens[start].text not in couples:
        return None
    counted = start + 1 + (_text(tokens, start + 1) == of)
    if (scale := _COUNTS[language].get(_text(tokens, counted))) is not None:
        return counted + 1, 2 * scale
    return (counted, 2) if _text(tokens, counted) in _COUPLED else None


def _composed(tokens: list[Token], start: int, language: str) -> tuple[int, int] | None:
    """Numbers of several words, as English, Spanish and French write them."""
    units, scales, link = _UNITS[language], _SCALES[language], _AND[language]
    total, current, last, index, end = 0, 0, 1000, start, start
    if (
        language == "en"
        and tokens[start].text in ("a", "an")
        and _text(tokens, start + 1) in ("dozen", "hundred", "thousand")
    ):
        current, index = 1, start + 1
    while index < len(tokens):
        word = tokens[index].text
        is_alone = index == start and word in ("hundred", "thousand", "dozen")
        if language == "fr" and ((current > 9 and word in ("cent", "cents")) or (not current and word == "cents")):
            break  # `cinquante cents` are of a dollar
        if word in scales and word != "k" and (current or language != "en" or is_alone):
            current = max(current, 1) * scales[word]
            _refuse_beyond_digits(current)
            if scales[word] == 1000:
                total, current = total + current, 0
            last = scales[word]
        elif language == "fr" and word in ("vingt", "vingts") and current % 100 == 4:
            current, last = current + 76, 20
        elif word in units and (units[word] < last or not end > start) and not _is_full(current, units[word], language):
            current += units[word]
            last = (
                10 if 20 <= units[word] < 100 and language != "fr" else 20 if units[word] in (60, 80) else units[word]
            )
            last = 100 if units[word] >= 100 else last
        elif end > start and (one := _one_more(tokens, index, last, language)):
            return one, total + current + 1
        elif word == link and end > start and _text(tokens, index + 1) in units and last in (100, 10, 1000, 20):
            index += 1
            continue
        else:
            break
        index += 1
        end = index
    return (end, total + current) if end > start else None


def _one_more(tokens: list[Token], index: int, last: int, language: str) -> int | None:
    """`vingt et une`, `ciento una`: the end of a last one, which alone would be an article."""
    at = index + (tokens[index].text == _AND[language])
    is_one = _text(tokens, at) in _ONES[language] and tokens[at].gap in (" ", "-")
    return at + 1 if is_one and (last >= 20 or language == "es") else None


def _is_full(current: int, unit: int, language: str) -> bool:
    """Whether another word would begin another number: `fifty twenty`."""
    rest = current % 100
    if not rest or (language == "fr" and rest == 10 and 7 <= unit <= 9):  # `dix-sept`
        return False
    return unit >= 20 or not (rest >= 20 and (rest % 10 == 0)) or (unit > 9 and language != "fr")


def _text(tokens: list[Token], index: int) -> str:
    return tokens[index].text if index < len(tokens) else ""


def _german(word: str) -> float | int | None:
    if word in ("anderthalb", "anderthalbe"):
        return 1.5
    for scale, factor in (("tausend", 1000), ("hundert", 100)):  # `anderthalbtausend`, `zweieinhalbhundert`
        half = _german(word.removesuffix(scale)) if word.endswith(f"halb{scale}") else None
        if half is not None:
            return round(half * factor)
    whole, found, _ = word.partition("einhalb")
    if found and (whole in ("ein", "") or whole in _DE_UNITS):
        return _DE_UNITS.get(whole, 1 if whole else 0) + 0.5
    thousands, found, rest = word.partition("tausend")
    if found:
        high = 1 if thousands in ("", "ein") else _german_below_1000(thousands)
        low = int(rest == "ein") or _german_below_1000(rest) if rest else 0
        return None if high is None or low is None else high * 1000 + low
    return _german_below_1000(word)


def _german_below_1000(word: str) -> int | None:
    if word == "ein":
        return None  # an article
    hundreds, found, rest = word.partition("hundert")
    if not found:
        return _german_below_100(word)
    high = _DE_UNITS.get(hundreds, 0) if hundreds else 1
    low = _german_below_100(rest.removeprefix("und")) if rest else 0
    return None if not high or low is None else high * 100 + low


def _german_below_100(word: str) -> int | None:
    if word in _DE_UNITS or word in _DE_TENS:
        return _DE_UNITS.get(word) or _DE_TENS[word]
    ones, found, tens = word.partition("und")
    return _DE_UNITS[ones] + _DE_TENS[tens] if found and ones in _DE_UNITS and tens in _DE_TENS else None
