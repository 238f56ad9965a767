"""Patterns to trees, and nothing but well-formed ones."""

import re
from dataclasses import dataclass

MOST_TIMES = 200
LARGEST = 20_000
_COUNT = re.compile(r"\{([0-9]{1,9})(?:(,)([0-9]{1,9})?)?\}")
_SIMPLE = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_CONTROL = {"n": "\n", "t": "\t", "r": "\r"}
_LAST = chr(0x10FFFF)
Ranges = tuple[tuple[str, str], ...]
_CLASSES: dict[str, Ranges] = {
    "d": (("0", "9"),),
    "w": (("0", "9"), ("A", "Z"), ("_", "_"), ("a", "z")),
    "s": (("\t", "\r"), (" ", " ")),
}


class PatternError(ValueError):
    """A pattern that is not well formed; the text ends with the place of the mistake."""

    def __init__(self, reason: str, place: int) -> None:
        """Say what is wrong, and where."""
        super().__init__(f"{reason} at {place}")
        self.place = place


@dataclass(frozen=True)
class Char:
    """One character out of ranges."""

    ranges: Ranges
    size: int = 1


@dataclass(frozen=True)
class Anchor:
    """The beginning or the end of the text."""

    is_start: bool
    size: int = 1


@dataclass(frozen=True)
class Sequence:
    """One after the other."""

    parts: tuple["Node", ...]
    size: int


@dataclass(frozen=True)
class Choice:
    """One of several."""

    options: tuple["Node", ...]
    size: int


@dataclass(frozen=True)
class Repeat:
    """Again and again; `most` is None without a bound."""

    inner: "Node"
    least: int
    most: int | None
    size: int


Node = Char | Anchor | Sequence | Choice | Repeat


def _inverted(ranges: Ranges) -> Ranges:
    found: list[tuple[str, str]] = []
    following = 0
    for low, high in sorted(ranges):
        if ord(low) > following:
            found.append((chr(following), chr(ord(low) - 1)))
        following = max(following, ord(high) + 1)
    if following <= ord(_LAST):
        found.append((chr(following), _LAST))
    return tuple(found)


_ANY = _inverted((("\n", "\n"),))


def _sequence(parts: list[Node]) -> Node:
    return (
        parts[0]
        if len(parts) == 1
        else Sequence(tuple(parts), 1 + sum(part.size for part in parts))
    )


def _choice(options: list[Node]) -> Node:
    return (
        options[0]
        if len(options) == 1
        else Choice(tuple(options), 1 + sum(option.size for option in options))
    )


class _Level:
    """An open group: its finished options and the sequence that is being read."""

    def __init__(self, place: int) -> None:
        self.place = place
        self.options: list[Node] = []
        self.parts: list[Node] = []
        self.is_repeatable = False

    def add(self, node: Node, *, is_repeatable: bool = True) -> None:
        self.parts.append(node)
        self.is_repeatable = is_repeatable

    def split(self) -> None:
        self.options.append(_sequence(self.parts))
        self.parts = []
        self.is_repeatable = False

    def closed(self) -> Node:
        return _choice([*self.options, _sequence(self.parts)])


def parse(pattern: str) -> Node:
    """Read a pattern; raises PatternError."""
    return _Parser(pattern).parse()


class _Parser:
    """Reads a pattern from left to right with a stack of open groups, so nesting costs no recursion."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._place = 0
        self._levels = [_Level(-1)]

    def parse(self) -> Node:
        while self._place < len(self._pattern):
            self._step(self._pattern[self._place])
        if len(self._levels) > 1:
            raise PatternError("a group is not closed", self._levels[1].place)
        return self._sized(self._levels[0].closed())

    def _sized(self, node: Node) -> Node:
        if sum(1 for _ in range(min(node.size, 100_000_000))) > LARGEST:
            raise PatternError("the pattern is too large", 0)
        return node

    def _step(self, character: str) -> None:
        level = self._levels[-1]
        if character in "*+?{":
            self._repeat(character)
        elif character == "(":
            self._levels.append(_Level(self._place))
            self._place += 1
        elif character == ")":
            self._close()
        elif character == "|":
            level.split()
            self._place += 1
        elif character in "^$":
            level.add(Anchor(character == "^"), is_repeatable=character == "$")
            self._place += 1
        else:
            level.add(Char(self._character(character)))

    def _close(self) -> None:
        if len(self._levels) == 1:
            raise PatternError("a group is not opened", self._place)
        inner = self._levels.pop().closed()
        self._levels[-1].add(inner)
        self._place += 1

    def _character(self, character: str) -> Ranges:
        if character in "}]":
            raise PatternError(f"{character!r} closes nothing", self._place)
        if character == "[":
            return self._set()
        if character == "\\":
            return self._escape()
        self._place += 1
        return _ANY if character == "." else ((character, character),)

    def _repeat(self, character: str) -> None:
        level, start = self._levels[-1], self._place
        if not level.is_repeatable:
            raise PatternError("there is nothing to repeat", start)
        least, most = self._counts() if character == "{" else _SIMPLE[character]
        if character != "{":
            self._place += 1
        inner = level.parts.pop()
        times = most if most is not None else least + 1
        size = 1 + inner.size * max(1, times)
        level.add(Repeat(inner, least, most, size), is_repeatable=False)

    def _counts(self) -> tuple[int, int | None]:
        match = _COUNT.match(self._pattern, self._place)
        if match is None:
            raise PatternError("no count", self._place)
        least = int(match[1])
        most = int(match[3]) if match[3] else (None if match[2] else least)
        if least > MOST_TIMES or (most or 0) > MOST_TIMES:
            raise PatternError("a count is too large", self._place)
        if most is not None and most < least:
            raise PatternError("a count is upside down", self._place)
        self._place = match.end()
        return least, most

    def _escape(self) -> Ranges:
        escaped = self._pattern[self._place + 1 : self._place + 2]
        if not escaped:
            raise PatternError("nothing is escaped", self._place)
        found = self._escaped(escaped)
        self._place += 2
        return found

    def _escaped(self, escaped: str) -> Ranges:
        if escaped in _CONTROL:
            return ((_CONTROL[escaped], _CONTROL[escaped]),)
        if escaped.lower() in _CLASSES:
            ranges = _CLASSES[escaped.lower()]
            return ranges if escaped.islower() else _inverted(ranges)
        if escaped.isalnum():
            raise PatternError("an escape without a meaning", self._place)
        return ((escaped, escaped),)

    def _set(self) -> Ranges:
        opening = self._place
        self._place += 1
        is_negated = self._pattern.startswith("^", self._place)
        self._place += is_negated
        found: list[tuple[str, str]] = []
        is_first = True
        while is_first or not self._pattern.startswith("]", self._place):
            if self._place >= len(self._pattern):
                raise PatternError("a set is not closed", opening)
            found += self._member()
            is_first = False
        self._place += 1
        return _inverted(tuple(found)) if is_negated else tuple(found)

    def _member(self) -> Ranges:
        start = self._place
        low = self._member_end()
        after = self._pattern[self._place : self._place + 2]
        if len(after) < 2 or after[0] != "-" or after[1] == "]":
            return low
        self._place += 1
        high = self._member_end()
        if not _is_single(low) or not _is_single(high) or high[0][0] < low[0][0]:
            raise PatternError("a range makes no sense", start)
        return ((low[0][0], high[0][0]),)

    def _member_end(self) -> Ranges:
        character = self._pattern[self._place]
        if character == "\\":
            return self._escape()
        self._place += 1
        return ((character, character),)


def _is_single(ranges: Ranges) -> bool:
    return len(ranges) == 1 and ranges[0][0] == ranges[0][1]
