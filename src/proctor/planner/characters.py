"""Numbers in the characters of Chinese, Japanese and Korean, with digits among them: `二十五`, `1万5千`, `천 5백`."""

from __future__ import annotations

from proctor.planner.words import MAX_DIGITS, Token

_HAN = dict(zip("一二三四五六七八九", range(1, 10), strict=True)) | {"两": 2, "両": 2, "〇": 0, "零": 0}
_HAN_SCALES = {"十": 10, "百": 100, "千": 1000, "万": 10_000}
HALF_SIGNS = "半반"
_SINO = dict(zip("일이삼사오육칠팔구", range(1, 10), strict=True))
_SINO_SCALES = {"십": 10, "백": 100, "천": 1000, "만": 10_000}
_KO_ONES = {"한": 1, "하나": 1, "두": 2, "둘": 2, "세": 3, "셋": 3, "네": 4, "넷": 4, "다섯": 5, "여섯": 6,
            "일곱": 7, "여덟": 8, "아홉": 9}  # fmt: skip
_KO_TENS = {"열": 10, "스물": 20, "스무": 20, "서른": 30, "마흔": 40, "쉰": 50, "예순": 60, "일흔": 70,
            "여든": 80, "아흔": 90}  # fmt: skip
_DIGITS = _HAN | _SINO
SCALES = _HAN_SCALES | _SINO_SCALES
_MYRIAD = 10_000


def number_in_characters(tokens: list[Token], start: int) -> tuple[int, float | int, bool] | None:
    """The end, the value, and whether it can stand without a unit; None where no number begins here."""
    if tokens[start].text in HALF_SIGNS and (scale := SCALES.get(_text(tokens, start + 1), 0)) >= 100:  # 半百
        return start + 2, scale // 2, False
    if (native := _native(tokens, start)) is not None:
        return *native, False
    if tokens[start].text == "만" and start and not tokens[start].gap:
        return None  # `piqa만` is only piqa
    found = by_scales(tokens, start)
    if found is None or found[1] < 100 or found[1] % 100 or found[0] >= len(tokens) or tokens[found[0]].gap:
        return None if found is None else (*found, False)
    more = _native(tokens, found[0])  # 백스물다섯
    return (*found, False) if more is None else (more[0], found[1] + more[1], False)


def by_scales(tokens: list[Token], start: int) -> tuple[int, float | int] | None:
    """The end and the value of digits and characters by tens, hundreds, thousands and myriads."""
    total: float | int = 0
    below: float | int = 0
    digit: float | int | None = None
    index = start
    while index < len(tokens):
        token = tokens[index]
        if index > start and token.gap and not (tokens[index - 1].text in SCALES and _is_scaled(tokens, index)):
            break
        if token.kind == "number":
            written = token.text.replace(".", "", 1)
            if digit is not None or not written.isdigit() or len(written) > MAX_DIGITS:
                break
            digit = float(token.text) if "." in token.text else int(token.text)
        elif token.text in _DIGITS:
            digit = _DIGITS[token.text]
        elif (scale := SCALES.get(token.text)) == _MYRIAD:
            total, below, digit = total + ((below + (digit or 0)) or 1) * _MYRIAD, 0, None
        elif scale is not None:
            below, digit = below + (1 if digit is None else digit) * scale, None
        else:
            break
        index += 1
    value = round(total + below + (digit or 0), 6)
    return (index, int(value) if float(value).is_integer() else value) if index > start else None


def _is_scaled(tokens: list[Token], at: int) -> bool:
    """Whether a digit with its scale stands here: the `5백` of `천 5백`."""
    is_digit = tokens[at].kind == "number" or tokens[at].text in _DIGITS
    behind = at + 1 < len(tokens) and not tokens[at + 1].gap and tokens[at + 1].text in SCALES
    return tokens[at].gap == " " and is_digit and behind


def _native(tokens: list[Token], start: int) -> tuple[int, int] | None:
    joined = "".join(token.text for token in tokens[start : start + 4])
    for length in (2, 1) if len(joined) > 1 else (1,):
        tens = _KO_TENS.get(joined[:length], 0)
        if tens:
            one = next((k for k in (2, 1) if joined[length : length + k] in _KO_ONES), 0)
            return start + length + one, tens + (_KO_ONES[joined[length : length + one]] if one else 0)
        if joined[:length] in _KO_ONES:
            return start + length, _KO_ONES[joined[:length]]
    return None


def _text(tokens: list[Token], index: int) -> str:
    return tokens[index].text if index < len(tokens) else ""
