"""A query as phrases: names, numbers and words that mean something, each with its place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeGuard

from msgspec import Struct, field

from proctor.domain.message import Json
from proctor.planner.lexicon import Concepts
from proctor.planner.words import Token


class Phrase(Struct, frozen=True):
    """One or more words; `meanings` are kinds with values, `kind` is the first of them."""

    meanings: Concepts
    first: int
    last: int
    start: int
    end: int
    number: float | int | None = None
    can_stand: bool = True
    """Whether a number may stand without a unit: an article that is also a number may not."""

    @property
    def kind(self) -> str:
        return self.meanings[0][0]

    @property
    def value(self) -> str:
        return self.meanings[0][1]

    def means(self, kind: str) -> str | None:
        return next((value for name, value in self.meanings if name == kind), None)


class Understood(Struct, frozen=True):
    """A phrase of the query, and what of the plan it set."""

    text: str
    field: str
    value: Json


class Phrases(Struct):
    """The phrases of a query, in order, and what was made of them."""

    text: str
    language: str
    tokens: list[Token]
    items: list[Phrase]
    used: set[int] = field(default_factory=set)
    understood: list[Understood] = field(default_factory=list)

    def free(self, *kinds: str) -> Iterator[int]:
        """The places of phrases of these kinds that nothing has used."""
        return (at for at, item in enumerate(self.items) if item.kind in kinds and at not in self.used)

    def after(self, at: int, *, over: str = "filler", most: int = 3, stops: bool = True) -> int | None:
        """The next unused phrase that says something; None at the end of the clause."""
        return self._beside(at, 1, over, most, stops)

    def before(self, at: int, *, over: str = "filler", most: int = 3, stops: bool = True) -> int | None:
        return self._beside(at, -1, over, most, stops)

    def _beside(self, at: int, step: int, over: str, most: int, stops: bool) -> int | None:
        skipped = 0
        at += step
        while 0 <= at < len(self.items):
            kind = self.items[at].kind
            if kind == "stop" and stops:
                return None
            if kind not in (over, "filler", "stop") or (at in self.used and kind != "stop"):
                return at if at not in self.used else None
            skipped += 1
            if skipped > most:
                return None
            at += step
        return None

    def is_kind(self, at: int | None, *kinds: str) -> TypeGuard[int]:
        return at is not None and self.items[at].kind in kinds

    def use(self, *places: int) -> None:
        self.used.update(places)

    def take(self, name: str, value: Json, *places: int) -> None:
        """These phrases set this field of the plan."""
        self.used.update(places)
        self.understood.append(Understood(self.words(*places), name, value))

    def words(self, *places: int) -> str:
        """The query's own words at these places."""
        parts: list[list[int]] = []
        for at in sorted(places):
            item = self.items[at]
            if parts and item.start - parts[-1][1] <= 1:
                parts[-1][1] = item.end
            else:
                parts.append([item.start, item.end])
        return " … ".join(self.text[start:end] for start, end in parts)

    def share(self, number: int, percent: int) -> float:
        """What a number of hundredths, or of tenths, is of the whole."""
        return round((self.items[number].number or 0) * int(self.items[percent].value or 1) / 100, 6)

    def absorb(self, first: int, last: int, *kinds: str) -> list[int]:
        """These places, with the phrases of these kinds right before and behind them."""
        places = list(range(first, last + 1))
        for begin, step in ((first, -1), (last, 1)):
            at = self._beside(begin, step, "filler", 2, True)
            while self.is_kind(at, *kinds) and not (step > 0 and self._is_of_next(at)):
                places.append(at)
                at = self._beside(at, step, "filler", 2, True)
        return [at for at in places if self.items[at].kind != "stop"]

    def _is_of_next(self, at: int) -> bool:
        """`in einer Stunde insgesamt 50`: whether a word is of the number behind it."""
        behind = at + 1
        is_bound = self.items[at].kind in ("total", "atmost", "atleast") and behind < len(self.items)
        return is_bound and self.items[behind].number is not None and behind not in self.used

    def clause(self, at: int, *, breaks: Callable[[Phrase], bool]) -> range:
        """The places around this one up to a break on each side."""
        first = last = at
        while first > 0 and not breaks(self.items[first - 1]):
            first -= 1
        while last + 1 < len(self.items) and not breaks(self.items[last + 1]):
            last += 1
        return range(first, last + 1)
