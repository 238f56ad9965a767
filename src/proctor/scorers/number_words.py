"""Numbers written in words: twenty-four, two hundred and fifty, two-thirds, zwölf, 三十五."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from proctor.scorers.lazy_pattern import lazy_pattern
from proctor.scorers.numbers import PERCENT, FoundNumber

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
_TENS = (
    "thirty forty fifty sixty seventy eighty ninety",
    "dreißig vierzig fünfzig sechzig siebzig achtzig neunzig",
    "trente quarante cinquante soixante . quatre-vingt .",
    "treinta cuarenta cincuenta sesenta setenta ochenta noventa",
)
_GERMAN_UNITS = "ein zwei drei vier fünf sechs sieben acht neun"
_TWENTIES = "veintiuno veintidós veintitrés veinticuatro veinticinco veintiséis veintisiete veintiocho veintinueve"
_SMALL = {
    **{
        word: value
        for names in (_ENGLISH, _GERMAN, _FRENCH, _SPANISH)
        for value, word in enumerate(names.split())
        if word != "."
    },
    **{word: 30 + 10 * place for names in _TENS for place, word in enumerate(names.split()) if word != "."},
    **{
        f"{unit}und{ten}": 20 + 10 * place + value
        for place, ten in enumerate(["zwanzig", *_TENS[1].split()])
        for value, unit in enumerate(_GERMAN_UNITS.split(), 1)
    },
    **{word: value for value, word in enumerate(_TWENTIES.split(), 21)},
    "veintiuna": 21,
    "quatre-vingts": 80,
    **{f"dix-{unit}": 10 + value for unit, value in (("sept", 7), ("huit", 8), ("neuf", 9))},
}
_GERMAN_BIG = r"(?:[a-zäöüß]{3,24})?(?:hundert|tausend)(?:[a-zäöüß]{3,24})?"
_SPANISH_HUNDREDS = (
    "ciento doscientos trescientos cuatrocientos quinientos seiscientos setecientos ochocientos novecientos"
)
_HUNDREDS = {
    **{f"{unit} cents": 100 * value for value, unit in enumerate(_FRENCH.split()) if 1 < value < 10 and unit != "."},
    **{f"{unit} cent": 100 * value for value, unit in enumerate(_FRENCH.split()) if 1 < value < 10 and unit != "."},
    **{word: 100 * value for value, word in enumerate(_SPANISH_HUNDREDS.split(), 1)},
    **{f"{word[:-2]}as": 100 * value for value, word in enumerate(_SPANISH_HUNDREDS.split(), 1) if value > 1},
    "cien": 100,
}  # 'cent' and 'six cents' are money in English
_FRENCH_ONLY = [word for word in f"{_FRENCH} {_TENS[2]} un".split() if word != "."]
_DOZEN = r"dozens?|dutzend|docenas?|douzaines?"
_HALF = r"half(?:\ an?)?|ein\ halbes|media|une\ demi"
_MULTIPLES = {
    "hundred": 10**2,
    "thousand": 10**3,
    "tausend": 10**3,
    "billion": 10**9,
    **dict.fromkeys(("million", "millions", "millionen", "millón", "millones"), 10**6),
    **dict.fromkeys(("milliarde", "milliarden", "milliard", "milliards"), 10**9),
}
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
    **dict.fromkeys(("drittel", "tiers", "tercio"), 3),
    **dict.fromkeys(("viertel", "quart", "cuartos de"), 4),
    **dict.fromkeys(("fünftel", "cinquième", "quinto"), 5),
    **dict.fromkeys(("achtel", "huitième", "octavo"), 8),
    **dict.fromkeys(("zehntel", "dixième", "décimo"), 10),
}
_DIGITS = {**{sign: value for value, sign in enumerate("零一二三四五六七八九")}, "〇": 0, "两": 2, "兩": 2}
_POWERS = {"十": 10, "百": 100, "千": 1000, "万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}

_KOREAN = {
    **dict(zip(["하나", "둘", "셋", "넷", "다섯", "여섯", "일곱", "여덟", "아홉"], range(1, 10), strict=True)),
    "한": 1,
    "두": 2,
    "세": 3,
    "네": 4,
    "스무": 20,
    **dict(zip(["열", "스물", "서른", "마흔", "쉰", "예순", "일흔", "여든", "아흔"], range(10, 100, 10), strict=True)),
}
_KOREAN_TENS = "열|스물|스무|서른|마흔|쉰|예순|일흔|여든|아흔"
_KOREAN_UNITS = "하나|둘|셋|넷|다섯|여섯|일곱|여덟|아홉|한|두|세|네"
_KOREAN_COUNTERS = (
    "개|명|마리|권|장|살|시간|송이|병|잔|대|그루|자루|켤레|조각|원|년|퍼센트|분|초|일|주|달|월|킬로|미터|센티|그램"
    "|리터|도|점|쪽|페이지|배|층"
    "|칸|줄|가지|문제|사람|학생|달러|유로|엔|위안|세|번|회|톤|평|그릇|상자|묶음|km|cm|m|kg|g"
)
_KOREAN_TENS_AT_START = lazy_pattern(_KOREAN_TENS)
_SINO_KOREAN = str.maketrans("영일이삼사오육칠팔구십백천만억", "零一二三四五六七八九十百千万億", " ")


def _any_of(words: Iterable[str]) -> str:
    return "|".join(sorted(words, key=len, reverse=True))


_SINO = "[일이삼사오육칠팔구십백천만억]"
_FIRST = _any_of(_SMALL)
_TEN = _any_of(word for word, value in _SMALL.items() if value >= 20 and value % 10 == 0)
_UNIT = _any_of(["un", "uno", *(word for word, value in _SMALL.items() if 0 < value < 20)])
_BELOW_HUNDRED = rf"(?:(?:{_TEN})[ -](?:(?:et|y)[ -])?(?:{_UNIT})(?!\w)|{_FIRST})"
_MORE = rf"[ -](?:{_any_of(_MULTIPLES)})(?:[ -](?:and\ )?{_BELOW_HUNDRED})?"
_BIG = (
    rf"|(?<![\w-])(?:(?P<thousand>(?:(?:{_any_of(_HUNDREDS)})[ -]?)?(?:{_BELOW_HUNDRED})?)[ -]?"
    rf"mil(?:le)?(?![a-z])[ -]?)"
    rf"(?P<beyond>(?:{_any_of(_HUNDREDS)})?[ -]?(?:{_BELOW_HUNDRED})?)(?![\w-])"
    rf"|(?<![\w-])(?P<german>{_GERMAN_BIG})(?![\w-])"
)
_NO_BIG = "|(?P<thousand>(?!))(?P<beyond>)(?P<german>)"
_HAS_BIG = lazy_pattern(r"hundert|tausend|\bmil(?:le)?\b", re.IGNORECASE)
"""Words for thousands are looked for only where there is one: the search for them is slow."""
_SPELT_WITHOUT_BIG, _SPELT_WITH_BIG = (
    lazy_pattern(
        rf"(?<![\w-])(?:(?P<half>{_HALF})[ -]|(?P<count>{_FIRST}|one|an?|eine?[ms]?|une?|una)[ -])"
        rf"(?:{_DOZEN})(?!\w|\ or\ so\b)"
        rf"{big}|(?<![\w-])(?P<hundreds>{_any_of(_HUNDREDS)}"
        rf"|cent(?=[ -](?:{_any_of(_FRENCH_ONLY)})\b))(?:[ -]?(?P<rest>{_BELOW_HUNDRED}))?(?![\w-])"
        rf"|(?<![\w-])(?P<halves>(?:{_any_of(_SMALL)}|ein)einhalb|anderthalb|eineinhalb)(?![\w-])"
        rf"|(?<![\w-])(?P<minus>(?:minus|negative)\ )?"
        rf"(?P<words>{_BELOW_HUNDRED}(?:{_MORE})*|(?:an?|une?|eine)(?:{_MORE})+)"
        rf"(?:[ -](?P<part>{'|'.join(_PARTS)})s?|\ (?:and\ a|et|y)\ (?P<more>half|quarter|demie?|medi[oa]))?(?![\w-])"
        rf"|(?<![가-힣])(?P<korean>(?:{_KOREAN_TENS})(?:{_KOREAN_UNITS})?|{_KOREAN_UNITS})(?=\s?(?:{_KOREAN_COUNTERS}"
        rf"|입니다|이에요))"
        rf"|(?<![가-힣])(?!만일|만약|백일"
        rf"|천만에)(?P<sino>(?=[일이삼사오육칠팔구]?[십백천만억]){_SINO}{{1,12}}(?:\s{_SINO}{{1,8}}){{0,3}})"
        rf"(?=\s?(?:{_KOREAN_COUNTERS}|입니다|이에요|예요|이다|정도|쯤|가량)|[.!\s]*\Z)"
        r"|(?P<dozens>[一二两兩三四五六七八九十])打(?![开開电電算扮扫掃听聽])"
        r"|(?P<under>[一二两三四五六七八九十百]+)分[之の](?P<over>[一二两三四五六七八九十百]+)"
        # 一共 'altogether', 一起 'together' and 三角 'triangle' are words, and 第三 is a place in a row.
        r"|(?<![第哪某另同])(?P<signs>(?:[〇零一二两兩三四五六七八九十百万萬亿億]|(?<![十百])千)+)(?![共起样樣定些直般旦切部角边邊])",
        re.IGNORECASE,
    )
    for big in (_NO_BIG, _BIG)
)
_JUST = lazy_pattern(r"(?:\b(?:only|just|exactly) |只有|仅)$", re.IGNORECASE)
_WORD = lazy_pattern(_any_of([*_SMALL, *_MULTIPLES, "uno", "un"]))
_PER = lazy_pattern(r"\b(?:por|pour|per)\ \Z", re.IGNORECASE)
_PER_CENT = lazy_pattern(rf"\s?(?:{PERCENT})", re.VERBOSE | re.IGNORECASE)
_HALF_BEHIND = lazy_pattern(
    r"(?:時間|年|か月|个|個|小时|天|米|升|公斤|千克|元|メートル|リットル|キロ)半(?![分径数])"
    r"|\s?(?:시간|년|달|개월|미터|리터|킬로)\s?반(?![가-힣](?<!이)(?<!입))"
    r"|\s[^\W\d]{1,12}\s(?:et\sdemie?|y\smedi[oa]|and\sa\shalf)\b",
    re.IGNORECASE,
)
MAX_LENGTH = 80
MAX_SIGNS = 15
"""Of a number written sign by sign; more are no number that a float can hold."""
_ALSO_ENGLISH = ("once", "seize", "elf", "null")
_ENGLISH_TEXT = lazy_pattern(r"\b(?:the|of|and|is|are|was|it|he|she|you|they)\b", re.IGNORECASE)


def _pattern_for(text: str, start: int, end: int) -> re.Pattern[str]:
    return _SPELT_WITH_BIG if _HAS_BIG.search(text, start, end) else _SPELT_WITHOUT_BIG


def spelt_at(text: str, position: int) -> FoundNumber | None:
    """The number that is spelt out from this place on."""
    found = _pattern_for(text, position, position + MAX_LENGTH).match(text, position)
    is_number = found is not None and not (found["german"] and _german_value(found["german"].lower()) is None)
    return _read(found) if found and is_number else None


def find_spelt(text: str, start: int = 0, end: int | None = None) -> Iterator[FoundNumber]:
    """The numbers spelt out in a text; a lone 'one' only where it is 'only one', for it mostly stands for a thing."""
    end = len(text) if end is None else end
    for found in _pattern_for(text, start, end).finditer(text, start, end):
        word = found[0].lower()
        if word in ("ciento", "cent") and _PER.search(text, max(0, found.start() - 6), found.start()):
            continue
        if word in ("one", "一") and not _JUST.search(text, max(0, found.start() - 9), found.start()):
            continue
        if found["german"] and _german_value(word) is None:
            continue  # hundertjährig, tausendfach
        if word not in _ALSO_ENGLISH or not _ENGLISH_TEXT.search(text):
            yield _read(found)


def _read(found: re.Match[str]) -> FoundNumber:
    is_percent = found["under"] == "百" or _PER_CENT.match(found.string, found.end()) is not None
    factor = 0.01 if is_percent else 1
    is_and_half = _HALF_BEHIND.match(found.string, found.end()) is not None
    return FoundNumber(_value(found) + is_and_half * 0.5, found[0], found.start(), found.end(), factor)


def _value(found: re.Match[str]) -> int | float:
    if found["words"]:
        return _worded_value(found)
    if found["thousand"] is not None:
        return 1000 * max(_below_thousand(found["thousand"]), 1) + _below_thousand(found["beyond"])
    if found["german"]:
        return _german_value(found["german"].lower()) or 0
    if found["halves"]:
        return _halves_value(found["halves"].lower())
    if found["hundreds"]:
        return _HUNDREDS.get(found["hundreds"].lower(), 100) + (_worded(found["rest"].lower()) if found["rest"] else 0)
    if found["under"]:
        over = _signed(found["over"])
        return over if found["under"] == "百" else over / _signed(found["under"])
    if found["signs"] or found["sino"]:
        return _signed(found["signs"] or found["sino"].translate(_SINO_KOREAN))
    if found["korean"]:
        tens = _KOREAN_TENS_AT_START.match(found["korean"])
        return (
            sum(_KOREAN[part] for part in (tens[0], found["korean"][tens.end() :]) if part)
            if tens
            else _KOREAN[found["korean"]]
        )
    if found["half"]:
        return 6
    return 12 * (_signed(found["dozens"]) if found["dozens"] else _SMALL.get(found["count"].lower(), 1))


def _halves_value(word: str) -> float:
    """Dreieinhalb; anderthalb is one and a half."""
    count = word.removesuffix("einhalb")
    return _SMALL.get(count, 1) + 0.5


def _below_thousand(words: str) -> int:
    words = words.lower().strip(" -")
    hundreds = next((name for name in sorted(_HUNDREDS, key=len, reverse=True) if words.startswith(name)), "")
    return _HUNDREDS.get(hundreds, 0) + _worded(words[len(hundreds) :])


def _german_value(word: str) -> int | None:
    """A German compound such as eintausendfünfhundert; None where the word is none."""
    for scale, name in ((1000, "tausend"), (100, "hundert")):
        if name in word:
            before, _, after = word.partition(name)
            many = _german_value(before) if before else 1
            rest = _german_value(after.removeprefix("und")) if after else 0
            return None if many is None or rest is None else many * scale + rest
    return 1 if word in ("ein", "eins") else _SMALL.get(word)


def _worded_value(found: re.Match[str]) -> int | float:
    value: int | float = _worded(found["words"].lower())
    if found["part"]:
        value = value / _PARTS[found["part"].lower()]
    elif found["more"]:
        value = value + 1 / _PARTS.get(found["more"].lower(), 2)
    return -value if found["minus"] else value


def _worded(words: str) -> int:
    total = current = 0
    for word in _WORD.findall(words):
        if word == "hundred":
            current = max(current, 1) * 100
        elif word in _MULTIPLES:
            total, current = total + max(current, 1) * _MULTIPLES[word], 0
        else:
            current += _SMALL.get(word, 1)  # vingt et un
    return total + current


def _signed(signs: str) -> int:
    if 1 < len(signs) <= MAX_SIGNS and all(sign in _DIGITS for sign in signs):  # 一九四九
        return int("".join(str(_DIGITS[sign]) for sign in signs))
    total = section = digit = 0
    for sign in signs:
        if sign in _DIGITS:
            digit = _DIGITS[sign]
        elif _POWERS[sign] >= 10**4:
            total, section, digit = total + max(section + digit, 1) * _POWERS[sign], 0, 0
        else:
            section, digit = section + max(digit, 1) * _POWERS[sign], 0
    return total + section + digit
