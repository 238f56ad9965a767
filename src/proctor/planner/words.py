"""A query as words: normalised, with the place of each in the text; what cannot be a query is refused here."""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

from msgspec import Struct

from proctor.domain.errors import UserError

MAX_CHARACTERS = 4_000
MAX_DIGITS = 18
"""Of a number: more are no size, price or seed, and too many for arithmetic."""
CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3"
_LATIN = rf"(?:(?![{CJK}])[^\W\d_])"
_SHORT = (
    r"gpt|opus|sonnet|haiku|fable|mythos|claude|gemini|usd|eur|gbp|seed|temp|level|n(?=\d\d)"
    r"|x(?=\d{1,4}(?!\w))|(?<=\d)h"
)
"""Words to which a number may be written without a space: `n50`, `x3`, `1h30`."""
_DOLLARS = r"(?:us|au|ca|hk|nt|nz|sg|mx|a|c|r|s)\$"
"""Signs of currencies with letters: `a $5 budget` has no space in `A$`."""
_TOKEN = re.compile(
    rf"(?P<number>\d+(?:[.,]\d+)*|(?<![\w.])\.\d+)"
    rf"|(?P<word>(?!{_DOLLARS})(?:(?:{_SHORT})(?=\d)|{_LATIN}(?:{_LATIN}|\d)*))"
    rf"|(?P<cjk>[{CJK}])|(?P<mark>{_DOLLARS}|<=|>=|[^\s\w]|_)"
)
_GROUPED = re.compile(r"(?<![\w.,'-])[1-9]\d{0,2}(?:['\u2019_\u00a0\u2009\u202f]\d{3})+(?![\w'_])")
"""`1'500`, and thousands that a narrow space divides: never two numbers."""
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u202a-\u202e\u2066-\u2069]")


class Token(Struct, frozen=True):
    """One word, number, sign, or character of a script without spaces; `gap` is what stands before it."""

    text: str
    start: int
    end: int
    kind: Literal["number", "word", "cjk", "mark"]
    gap: str


def normalise(query: str) -> str:
    """The query in one form of its characters; a UserError for what cannot be one."""
    if len(query) > MAX_CHARACTERS:
        raise UserError(
            f"The query has {len(query):,} characters; the most is {MAX_CHARACTERS:,}. Say what to compare in a few "
            "sentences; long instructions belong in a plan file."
        )
    found = _CONTROL.search(query)
    if found:
        raise UserError(f"The query has a control character (U+{ord(found[0]):04X}) in it: write it as plain text.")
    spaced = re.sub(r"(?<=\d)\uff0c(?=\d)", "\uff0c ", query)  # a wide comma divides, and groups no digits
    spaced = re.sub(r"(?<=\w)[\u2010-\u2012](?=\w)|(?<=[^\W\d])\u2013(?=\w)|(?<=\d)\u2013(?=[^\W\d])", "-", spaced)
    spaced = _GROUPED.sub(lambda found: re.sub(r"\D", "", found[0]), spaced)
    spaced = _HOURS.sub(lambda found: f"{int(found[1]) + int(found[2]) / 60:.4g}", spaced)
    spaced = _TENTHS.sub(_with_hundredths, spaced)
    spaced = re.sub(r"(\d)\s?([\u00bc-\u00be\u2150-\u215e])", _with_part, spaced)
    text = unicodedata.normalize("NFKC", spaced).replace("\u2019", "'").replace("\u2044", "/").strip()
    if len(text) > MAX_CHARACTERS:  # one character may stand for eighteen
        raise UserError(f"The query has {len(text):,} characters when its ligatures are written out: say it shorter.")
    if not re.search(r"\w", text):
        raise UserError("The query is empty. Say what to compare on what, for example: haiku and gpt-5-mini on gsm8k.")
    return text


_HOURS = re.compile(
    r"(?<![\d:])(\d{1,2}):([0-5]\d)(?=\s?(?:h\b|hours?|hrs?\b|stunden|std|horas|heures|시간|時間|小时))", re.IGNORECASE
)
"""`1:30 h` as 1.5 h."""
_TENTHS = re.compile(
    r"(?<![\d.])(\d|[一二三四五六七八九])\s?(?:割|할|成)\s?(?:(\d|[一二三四五六七八九])\s?(?:分|푼|부)|(半|반)|([一二三四五六七八九])(?![道题個个]))"
)
_NUMERALS = "一二三四五六七八九"


def _with_hundredths(found: re.Match[str]) -> str:
    """`1割5分` and `一成半` as 15 %."""
    tens, *ones = (str(_NUMERALS.find(part) + 1 or part) if part else "" for part in found.groups())
    return f"{tens}{'5' if ones[1] else ones[0] or ones[2]}%"


def _with_part(found: re.Match[str]) -> str:
    """`2\u00bd` as 2.5."""
    return f"{found[1]}{unicodedata.numeric(found[2]):.4g}".replace("0.", ".", 1)


_GERMAN = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})
_ACCENTS = str.maketrans("áàâéèêëíîïóôúùûüçñ", "aaaeeeeiiioouuuucn")


def without_accents(word: str, language: str) -> str:
    """A word as it is written where a keyboard has no accents: `fuenfzig`, `deberia`, `francais`."""
    return word.translate(_GERMAN if language == "de" else _ACCENTS) if language in ("de", "es", "fr") else word


def tokens_of(text: str) -> list[Token]:
    """The tokens of a text, in lower case; hyphens within a word are kept in the gap before its next part."""
    found: list[Token] = []
    end = 0
    matches = list(_TOKEN.finditer(text.lower() if len(text.lower()) == len(text) else text))
    for index, match in enumerate(matches):
        kind: Literal["number", "word", "cjk", "mark"] = match.lastgroup  # type: ignore[assignment]
        if kind == "mark" and match[0] in "-_'" and _is_within_word(matches, index):
            continue
        found.append(Token(match[0], match.start(), match.end(), kind, text[end : match.start()]))
        end = match.end()
    return found


def parts_of_lists(tokens: list[Token], language: str) -> list[Token]:
    """Numbers with a comma between them that are no one number, such as `0,0.5,1`, as numbers with commas."""
    found: list[Token] = []
    for index, token in enumerate(tokens):
        parts = token.text.split(",")
        before = tokens[index - 1] if index else None
        is_version = before is not None and before.kind in ("word", "number") and token.gap in ("", "-")
        is_version = is_version and before is not None and before.text not in ("usd", "eur", "gbp", "us", "n", "x")
        is_decimal = len(parts) == 2 and language not in ("zh", "ja", "ko") and "." not in parts[0]
        is_grouped = all(re.fullmatch(r"\d{3}(\.\d+)?", part) for part in parts[1:])
        is_grouped = is_grouped and re.fullmatch(r"[1-9]\d{0,2}", parts[0]) is not None
        is_one = is_decimal or is_grouped or language in ("de", "es", "fr")
        if token.kind != "number" or len(parts) == 1 or (is_one and not is_version):
            found.append(token)
            continue
        start, gap = token.start, token.gap
        for place, part in enumerate(parts):
            if place:
                found.append(Token(",", start - 1, start, "mark", ""))
            found.append(Token(part, start, start + len(part), "number", gap))
            start, gap = start + len(part) + 1, ""
    return found


def _is_within_word(matches: list[re.Match[str]], index: int) -> bool:
    if index == 0 or index + 1 == len(matches):
        return False
    before, here, after = matches[index - 1 : index + 2]
    touches = before.end() == here.start() and here.end() == after.start()
    return touches and before.lastgroup != "mark" and after.lastgroup != "mark"
