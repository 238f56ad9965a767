"""Split a Nest document into tokens, one at a time."""

from __future__ import annotations

import re
from typing import NamedTuple

LARGEST = 2**53 - 1
HIGHEST_CODE_POINT = 0x10FFFF
SURROGATES = range(0xD800, 0xE000)
SIMPLE_ESCAPES = {'"': '"', "\\": "\\", "n": "\n", "t": "\t"}

_TOKEN = re.compile(
    r"""
    (?P<comment> \#[^\n]* )
  | (?P<name>    [a-z_][a-z0-9_-]* )
  | (?P<integer> -?[0-9]+(?:_[0-9]+)* )
  | (?P<mark>    [={}\[\],] )
  | (?P<string>  " )
    """,
    re.VERBOSE,
)
_SPACE = re.compile(r"[ \t\r\n]*")
_PLAIN = re.compile(r'[^"\\\n]*')
_CODE_POINT = re.compile(r"u\{([0-9A-Fa-f]{1,6})\}")


class NestError(Exception):
    """A document is not valid; the message begins with line and column."""


class Token(NamedTuple):
    """A piece of a document, where it begins and where it ends."""

    kind: str
    value: str | int
    start: int
    end: int


class Scanner:
    """Gives the tokens of a text in order; the last is of the kind `end`."""

    def __init__(self, text: str) -> None:
        """Start at the beginning."""
        self.text = text
        self._place = 0

    def error(self, place: int, reason: str) -> NestError:
        """Make an error that names the line and column of a place."""
        line = self.text.count("\n", 0, place) + 1
        column = place - self.text.rfind("\n", 0, place)
        return NestError(f"{line}:{column}: {reason}")

    def on_one_line(self, start: int, end: int) -> bool:
        """Say whether no line ends between two places."""
        return self.text.find("\n", start, end) < 0

    def next(self) -> Token:
        """Give the next token; raises NestError where there can be none."""
        start = self._skip_space()
        if start == len(self.text):
            return Token("end", "", start, start)
        match = _TOKEN.match(self.text, start)
        if match is None or match.lastgroup is None:
            raise self.error(start, f"unexpected character {self.text[start]!r}")
        self._place = match.end()
        kind, value = match.lastgroup, match[0]
        if kind == "string":
            return Token(kind, self._string(start), start, self._place)
        if kind == "integer":
            return Token(kind, self._integer(value, start), start, self._place)
        return Token(kind, value, start, self._place)

    def _skip_space(self) -> int:
        match = _SPACE.match(self.text, self._place)
        return match.end() if match else self._place

    def _integer(self, digits: str, start: int) -> int:
        number = int(digits)
        if abs(number) > LARGEST:
            raise self.error(start, f"integer {number} is out of range")
        return number

    def _string(self, start: int) -> str:
        """Read on after an opening quote up to the closing one."""
        parts = []
        while True:
            plain = _PLAIN.match(self.text, self._place)
            if plain:
                parts.append(plain[0])
                self._place = plain.end()
            stop = self.text[self._place : self._place + 1]
            if stop == '"':
                self._place += 1
                return "".join(parts)
            if stop != "\\" or self.text[self._place + 1 :][:1] in ("", "\n"):
                raise self.error(self._place, "string is not closed")
            parts.append(self._escape())

    def _escape(self) -> str:
        place = self._place + 1
        character = self.text[place]
        if character in SIMPLE_ESCAPES:
            self._place = place + 1
            return SIMPLE_ESCAPES[character]
        if match := _CODE_POINT.match(self.text, place):
            code_point = int(match[1], 16)
            if code_point <= HIGHEST_CODE_POINT and code_point not in SURROGATES:
                self._place = match.end()
                return chr(code_point)
        raise self.error(self._place, "invalid escape")
