"""What part of a response is the answer: reasoning removed, boxes opened, foreign digits made plain."""

from __future__ import annotations

import sys
import unicodedata
from functools import cache

from proctor.domain.response import Response
from proctor.scorers.lazy_pattern import lazy_pattern

BOXES_TRIED = 20
MAX_LENGTH = 200_000
MAX_START_LENGTH = 20_000
LONG = 20_000
"""Characters: reading a longer response may take more than a few milliseconds."""
_THINK_END = "</think>"
_THINK_START = "<think>"
_COMMA_OF_CLAUSES = lazy_pattern(r"(?<=[0-9])，(?=[0-9])")
"""'240÷30=8，8天': a full-width comma between digits that are not is no decimal sign."""
_STRUCK = lazy_pattern(r"~~[^~\n]+~~")


class TextReader:
    """A scorer that reads the whole response: a long one it reads where no answers are timed."""

    __slots__ = ()

    def is_slow_for(self, response: Response) -> bool:
        return len(response.text) > LONG


def final_text(text: str) -> str:
    """The response without its thinking block; one that was cut off while thinking says nothing."""
    if "<" in text:
        end = text.rfind(_THINK_END)
        if end >= 0:
            text = text[end + len(_THINK_END) :]
        elif text.lstrip().startswith(_THINK_START):
            return ""
    return text.strip()


def shorten(text: str) -> str:
    """The text without its middle where it is longer than any answer: what is announced stands at an end."""
    return text if len(text) <= MAX_LENGTH else f"{text[:MAX_START_LENGTH]}\n\n{text[MAX_START_LENGTH - MAX_LENGTH :]}"


def encodable(text: str) -> str:
    """The text with question marks for halves of characters, which no other program reads."""
    return text.encode("utf-8", "replace").decode()


def without_struck(text: str) -> str:
    """The text without what is ~~struck out~~."""
    return _STRUCK.sub("", text) if "~~" in text else text


def last_boxed(text: str) -> tuple[int, str] | None:
    r"""Where the last closed \boxed{…} begins, and what is in it."""
    start = len(text)
    for _ in range(BOXES_TRIED):
        start = text.rfind("\\boxed", 0, start)
        if start < 0:
            return None
        content = _braced(text, start + len("\\boxed"))
        if content is not None:
            return start, content
    return None


def _braced(text: str, position: int) -> str | None:
    """What stands between the brace that opens here (white space allowed) and its partner."""
    while position < len(text) and text[position] == " ":
        position += 1
    if position >= len(text) or text[position] != "{":
        return None
    depth = 0
    for index in range(position, min(len(text), position + 2000)):
        if text[index] == "{":
            depth += 1
        elif text[index] == "}":
            depth -= 1
            if depth == 0:
                return text[position + 1 : index]
    return None


@cache
def _plain_characters() -> dict[int, str]:
    """Digits of every script, full-width forms and unusual spaces and minus signs, as ASCII."""
    table = {
        code: str(unicodedata.decimal(chr(code)))
        for code in range(0x80, sys.maxunicode + 1)
        if unicodedata.category(chr(code)) == "Nd"
    }
    for code in range(0xFF01, 0xFF5F):  # full-width ! to ~
        table.setdefault(code, chr(code - 0xFEE0))
    table |= dict.fromkeys(map(ord, "\u00a0\u2002\u2003\u2007\u2009\u202f\u3000"), " ")
    table |= {0x2080 + digit: str(digit) for digit in range(10)}  # as in H₂O
    table |= dict.fromkeys(map(ord, "\u2212\ufe63\u2010\u2011"), "-")
    table |= {ord("\u066b"): ".", ord("\u066c"): ",", ord("\u3002"): "。", ord("\u2044"): "/"}
    return table


def plain(text: str) -> str:
    """The same text, one character for one, with ASCII digits, brackets, spaces and minus signs."""
    if text.isascii():
        return text
    if "，" in text:
        text = _COMMA_OF_CLAUSES.sub("、", text)
    return text.translate(_plain_characters())
