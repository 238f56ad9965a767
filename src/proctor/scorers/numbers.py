r"""Numbers as people and models write them.

1,234.5 · 1.234,5 · 1 234 · 1,23,456 · 3/4 · \frac{3}{4} · 1 1/2 · 2.5e3 · 2.5 × 10^3 · 2^10 · 12 % · 3 million
· 1万2千.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from decimal import Decimal
from itertools import pairwise
from typing import NamedTuple

from proctor.scorers.lazy_pattern import lazy_pattern

MAX_INTEGER_DIGITS = 400  # digits; a longer one is compared as a float
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_VULGAR = {
    "½": (1, 2), "⅓": (1, 3), "⅔": (2, 3), "¼": (1, 4), "¾": (3, 4), "⅕": (1, 5), "⅖": (2, 5), "⅗": (3, 5), "⅘": (4, 5),
    "⅙": (1, 6), "⅚": (5, 6), "⅛": (1, 8), "⅜": (3, 8), "⅝": (5, 8), "⅞": (7, 8),
}  # fmt: skip
_SCALES = {
    "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12, "lakh": 10**5, "crore": 10**7,
    "dozen": 12, "dutzend": 12, "docena": 12, "docenas": 12, "douzaine": 12, "douzaines": 12, "ダース": 12, "打": 12,
    "다스": 12, "tausend": 10**3, "mil": 10**3, "mille": 10**3, "millón": 10**6, "millones": 10**6, "millionen": 10**6,
    "millions": 10**6, "mio": 10**6, "milliarden": 10**9, "mrd": 10**9, "milliards": 10**9, "bn": 10**9, "тыс": 10**3,
    "тысяч": 10**3, "тысячи": 10**3, "млн": 10**6, "миллиона": 10**6, "миллионов": 10**6, "млрд": 10**9,
    "ألف": 10**3, "مليون": 10**6,
    "万": 10**4, "萬": 10**4, "億": 10**8, "亿": 10**8, "만": 10**4, "억": 10**8, "천": 10**3, "千": 10**3,
    "百": 10**2, "백": 10**2, "十": 10, "십": 10,
}  # fmt: skip
_LETTERS = {"k": 10**3, "m": 10**6, "b": 10**9}
PERCENT = r"%|percent\b|per\ cent\b|prozent\b|pour\ cent\b|por\ ciento\b|процент|퍼센트|パーセント"

NUMBER = lazy_pattern(
    rf"""(?=[-–\d$€£¥₹₩₽.\\mn½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞])(?<![A-Za-z_\d^])(?<![_^]\{{)
    (?P<sign>(?<![\w)\]}}%])-|(?<==\ )(?:-\ |–\ ?)|(?:(?<=is\ )|(?<=be\ )|(?<=[:=]\ ))(?:minus|negative)[ ]
      |(?<![^\n])(?:minus|negative)\ (?=\d+\W*\Z))?
    (?:[$€£¥₹₩₽]\ ?(?P<late_sign>-)?)?
    (?:
      (?:(?P<whole>\d+)\ ?)?\\[dt]?frac\ ?
        (?:\{{\ ?(?P<top>-?[\d,.]+)\ ?\}}\ ?\{{\ ?(?P<bottom>[\d,.]+)\ ?\}}|(?P<t1>\d)(?P<b1>\d))
      |(?:(?P<mixed>\d+)[\ -])?(?<![/\d.,])(?P<over>\d+)\ ?/\ ?(?P<under>\d+)(?![/\d]|[.,]\d)
      |(?P<before>\d*)\ ?(?P<vulgar>[½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞])
      |(?P<base>\d{{1,3}})(?:(?:\^|\*\*)\{{?(?P<to>-?\d{{1,2}})(?!\d)\}}?|(?P<small>[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]{{1,3}}))
      |(?P<digits>\d{{1,3}}(?:\ \d{{3}})+(?:[.,]\d+)?(?!\d)|\d+(?:[.,'’]\d+)*|(?<![\w)\].])\.\d+)
       (?:[eE](?P<exponent>[-+]?\d{{1,3}})(?!\w)
         |\ ?(?:×|x|\*|·|\\times|\\cdot)\ ?10\ ?
          (?:(?:\^|\*\*)\ ?\{{?(?P<power>-?\d{{1,3}})\}}?|(?P<raised>[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]{{1,4}})))?
    )
    (?:\ ?(?:(?P<percent>{PERCENT})|(?P<scale>{"|".join(sorted(_SCALES, key=len, reverse=True))})(?![a-z])
       (?!(?<=千)[米克瓦卡])
      |(?<=\d)(?P<kilo>[kmb])\b))?
    """,
    re.VERBOSE | re.IGNORECASE,
)
_THOUSANDS = lazy_pattern(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,2}(?:,\d{2})+,\d{3}(?:\.\d+)?")
_EUROPEAN = lazy_pattern(r"\d{1,3}(?:\.\d{3})+,\d+|\d{1,3}(?:\.\d{3}){2,}")
_QUOTED = lazy_pattern(r"\d{1,3}(?:['’]\d{3})+(?:\.\d+)?")
_SPACED = lazy_pattern(r"\d{1,3}(?: \d{3})+(?:[.,]\d+)?")


_MYRIADS = lazy_pattern(r"(?<![\d,.])(?:\d[\d,.]*[億亿억万萬만千천百백十십]{1,2} ?)+(?:\d[\d,]*)?")
_PARTS_OF = lazy_pattern(r"(?P<under>\d{1,9}|百)\s?(?:分[之の]|분의)\s?(?P<over>\d[\d.]{0,8})")
_TENTHS = lazy_pattern(r"(?<![\d.])(\d)割(?:(\d)分)?")
_LATEX_UNITS = lazy_pattern(r"\\(?:text|mathrm|textrm)\s?\{([^{}\n]{0,60})\}")
_LATEX_SIGNS = (
    ("\\times", "×"), ("\\cdot", "·"), ("\\div", "÷"), ("\\approx", "≈"), ("\\left", ""), ("\\right", ""),
    ("\\(", " "), ("\\)", " "), ("\\[", " "), ("\\]", " "),
)  # fmt: skip
_AND_A_HALF = lazy_pattern(
    r"(?P<count>\d(?<![\d.,]\d)\d*)(?P<unit>(?:時間|年|日|か月|ヶ月|시간|년|달|개월|个|個|小时|天|米|元|メートル|リットル|キロ|升|公斤|千克|미터|리터|킬로)"
    r"|\s[^\W\d]{1,12}(?=\s[eay]))"
    r"\s?(?:半(?![分径数])|반(?![가-힣])(?!\s?[가-힣]*\d)|반(?=입|이)|et\sdemie?\b|y\smedi[oa]\b|and\sa\shalf\b)"
)
"""'2時間半', '2 litres et demi'."""
_MYRIAD = lazy_pattern(r"(\d[\d,.]*)([億亿억万萬만千천百백十십]*)")


class FoundNumber(NamedTuple):
    """A number found in a text; `factor` is what a per cent sign or a word such as million multiplies it by."""

    value: int | float
    text: str
    start: int
    end: int
    factor: int | float = 1

    def readings(self) -> tuple[int | float, ...]:
        """25 % is 25 or 0.25, 3 million is 3 or 3,000,000: the question decides which of them was asked for."""
        if self.factor == 1:
            return (self.value,)
        try:
            return (self.value, self.value * self.factor)
        except OverflowError:  # hundreds of digits and a per cent sign
            return (self.value,)


def readable(text: str) -> str:
    """LaTeX's ways of writing separators, dollars and per cents, made plain."""
    if "\\" in text or "{,}" in text:
        for written, meant in (("{,}", ","), ("\\,", ""), ("\\!", ""), ("\\$", "$"), ("\\%", "%"), ("\\;", " ")):
            text = text.replace(written, meant)
        text = _LATEX_UNITS.sub(r" \1", text)
        for written, meant in _LATEX_SIGNS:
            text = text.replace(written, meant)
    text = _AND_A_HALF.sub(r"\g<count>.5\g<unit>", text)
    return (
        text if text.isascii() else _TENTHS.sub(_tenths, _PARTS_OF.sub(_divide_parts, _MYRIADS.sub(_add_myriads, text)))
    )


def _tenths(found: re.Match[str]) -> str:
    """4割 as 40%, 2割5分 as 25%."""
    return f"{10 * int(found[1]) + int(found[2] or 0)}%"


def _divide_parts(found: re.Match[str]) -> str:
    """3分の2 as 2/3, 百分之20 as 20%."""
    return f"{found['over']}%" if found["under"] == "百" else f"{found['over']}/{found['under']}"


def _add_myriads(found: re.Match[str]) -> str:
    """1万2千 as 12000 and 5천만 as 50000000; a lone 3万 stays as it is, for the question may ask how many 万."""
    parts = [(_part(digits), math.prod(_SCALES[unit] for unit in units)) for digits, units in _MYRIAD.findall(found[0])]
    is_lone = len(parts) < 2 and len(_MYRIAD.findall(found[0])[0][1]) < 2
    if is_lone or any(small >= big for (_, big), (_, small) in pairwise(parts)):
        return found[0]
    total = sum(amount * scale for amount, scale in parts)
    return found[0] if math.isnan(total) else f"{total:.15g} "


def find_numbers(
    text: str, start: int = 0, end: int | None = None, *, comma_decimals: bool = False
) -> Iterator[FoundNumber]:
    """The numbers of a text made plain, in order; lists such as 1,2,3 give each of their members."""
    for match in NUMBER.finditer(text, start, len(text) if end is None else end):
        written = match[0]
        if written.isdecimal() and len(written) < MAX_INTEGER_DIGITS:
            yield FoundNumber(int(written), written, match.start(), match.end())
        else:
            yield from _read(match, comma_decimals=comma_decimals)


def _read(match: re.Match[str], *, comma_decimals: bool) -> Iterator[FoundNumber]:
    parts = match.groupdict()
    value: int | float | None
    if parts["digits"] is not None:
        value = _decimal(parts["digits"], comma_decimals=comma_decimals or _is_alone(match))
        if value is None or (_is_pair(match) and not comma_decimals):
            for piece in re.finditer(r"\d+(?:\.\d+)?", match.group()):
                at = match.start() + piece.start()
                yield FoundNumber(_number(piece.group()), piece.group(), at, at + len(piece.group()))
            return
        value = _raise(value, parts)
    elif parts["base"] is not None:
        value = _power(int(parts["base"]), parts["to"] or (parts["small"] or "").translate(_SUPERSCRIPTS))
    else:
        value = _fraction(parts)
    if value is None:
        return
    if parts["sign"] or parts["late_sign"]:
        value = -value
    factor: int | float = 1
    if parts["percent"]:
        factor = 0.01
    elif parts["scale"]:
        factor = _SCALES[parts["scale"].lower()]
    elif parts["kilo"]:
        factor = _LETTERS[parts["kilo"].lower()]
    yield FoundNumber(value, match.group().strip(), match.start(), match.end(), factor)


def _is_alone(match: re.Match[str]) -> bool:
    """3,5 with nothing like it around is a decimal comma; whether it is one is only asked where no group fits."""
    return "," in match["digits"] and match["digits"].count(",") == 1 and "." not in match["digits"]


def _is_pair(match: re.Match[str]) -> bool:
    """(3,4) is a pair of numbers, not 3.4."""
    text, digits = match.string, match["digits"]
    around = text[max(0, match.start() - 1) : match.start()] + text[match.end() : match.end() + 1]
    return around == "()" and "," in digits and not _THOUSANDS.fullmatch(digits)


def _decimal(digits: str, *, comma_decimals: bool) -> int | float | None:
    if digits.isdigit():
        return int(digits) if len(digits) < MAX_INTEGER_DIGITS else float(digits)
    if comma_decimals and re.fullmatch(r"[1-9]\d{0,2}(?:\.\d{3})+(?:,\d+)?|\d+,\d+", digits) and not _grouped(digits):
        return _number(digits.replace(".", "").replace(",", "."))
    if _THOUSANDS.fullmatch(digits) and not digits.startswith("0"):
        return _number(digits.replace(",", ""))
    if _EUROPEAN.fullmatch(digits):
        return _number(digits.replace(".", "").replace(",", "."))
    if _QUOTED.fullmatch(digits):
        return _number(digits.replace("'", "").replace("’", ""))
    if _SPACED.fullmatch(digits):
        return _number(digits.replace(" ", "").replace(",", "."))
    if re.fullmatch(r"\d*\.\d+", digits):
        return float(digits)
    if re.fullmatch(r"\d+,\d+", digits):
        return float(digits.replace(",", "."))
    return None


def _grouped(digits: str) -> bool:
    """1,234 is grouped by thousands even where 3,5 would be a decimal."""
    return _THOUSANDS.fullmatch(digits) is not None and not digits.startswith("0")


def _number(plain: str) -> int | float:
    return float(plain) if "." in plain or len(plain) > MAX_INTEGER_DIGITS else int(plain)


def _raise(value: int | float, parts: dict[str, str | None]) -> int | float:
    power = parts["exponent"] or parts["power"] or (parts["raised"] or "").translate(_SUPERSCRIPTS)
    if not re.fullmatch(r"[-+]?\d+", power):
        return value
    exponent = int(power)
    if exponent >= 0 and isinstance(value, int):
        return int(value * 10**exponent)
    return float(Decimal(repr(value)).scaleb(exponent))


def _power(base: int, written: str) -> int | float | None:
    """None where that would divide by nothing."""
    exponent = int(written) if re.fullmatch(r"-?\d+", written) else 1
    if exponent < 0:
        return float(base) ** exponent if base != 0 else None
    return int(base**exponent)


def _fraction(parts: dict[str, str | None]) -> int | float | None:
    whole = _number(parts["whole"] or parts["mixed"] or parts["before"] or "0")
    top: int | float
    bottom: int | float
    if parts["vulgar"]:
        top, bottom = _VULGAR[parts["vulgar"]]
    else:
        top = _part(parts["top"] or parts["t1"] or parts["over"])
        bottom = _part(parts["bottom"] or parts["b1"] or parts["under"])
    result = _divide(top, bottom)
    try:
        return None if result is None else whole + result
    except OverflowError:  # hundreds of digits and a half
        return float(whole) if isinstance(whole, float) else math.inf


def _part(text: str | None) -> int | float:
    """A fraction's numerator or denominator; not a number when it is none."""
    plain = (text or "").replace(",", "")
    if re.fullmatch(r"-?\d+", plain):
        return _number(plain)
    return float(plain) if re.fullmatch(r"-?\d*\.\d+", plain) else math.nan


def _divide(top: int | float, bottom: int | float) -> int | float | None:
    if bottom == 0 or not math.isfinite(top) or not math.isfinite(bottom):
        return None
    if isinstance(top, int) and isinstance(bottom, int) and top % bottom == 0:
        return top // bottom
    try:
        return top / bottom
    except OverflowError:
        return None
