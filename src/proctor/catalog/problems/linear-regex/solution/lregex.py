"""Regular expressions that are matched by following all possibilities at once, so none is slow."""

from automaton import Automaton, build
from parser import PatternError, parse

__all__ = ["Pattern", "PatternError", "compile"]
Span = tuple[int, int]


class Pattern:
    """A pattern that is ready to be matched."""

    def __init__(self, automaton: Automaton) -> None:
        """Take the automaton that stands for the pattern."""
        self._automaton = automaton

    def fullmatch(self, text: str) -> bool:
        """Say whether the whole text matches."""
        return self._automaton.is_full_match(text)

    def search(self, text: str) -> Span | None:
        """Give the leftmost match and, of those, the longest."""
        return self._automaton.search(text, 0)

    def findall(self, text: str) -> list[Span]:
        """Give all matches from left to right."""
        found: list[Span] = []
        place, latest = 0, -1
        while place <= len(text):
            span = self._automaton.search(text, place)
            if span is None:
                break
            start, end = span
            if end > start or start != latest:
                found.append(span)
                latest = end
            place = end if end > start else end + 1
        return found

    def replace(self, text: str, new: str) -> str:
        """Put a text in the place of every match."""
        parts: list[str] = []
        place = 0
        for start, end in self.findall(text):
            parts += [text[place:start], new]
            place = end
        return "".join([*parts, text[place:]])


def compile(pattern: str) -> Pattern:
    """Make a pattern; raises PatternError."""
    return Pattern(build(parse(pattern)))
