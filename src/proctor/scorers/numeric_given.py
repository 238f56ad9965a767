"""Which numbers of a response only repeat the question's, and which of the others is worked out from the rest."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import permutations

from proctor.scorers.lazy_pattern import lazy_pattern
from proctor.scorers.number_words import find_spelt
from proctor.scorers.numbers import FoundNumber, find_numbers, readable
from proctor.scorers.reading import plain

MAX_QUESTION = 2000
MAX_STEPS = 3
MAX_VALUES = 12
"""Of more numbers nearly any is some sum of two others."""
_ASKS_SHARE = lazy_pattern(
    r"%|\b(?:per\s?cent\w*|proz\w+|pour\scent\w*|por\sciento|share|proportion|anteil|part|fraction|chance"
    r"|probab\w+|wahrscheinlich\w*)\b|[割率]|퍼센트|百分|比例|비율|확률|パーセント",
    re.IGNORECASE,
)


def names_numbers(question: str) -> bool:
    return bool(_given(question))


def is_given(value: float, question: str) -> bool:
    return value in _given(question)


def without_given(numbers: list[FoundNumber], question: str) -> list[FoundNumber]:
    """The numbers that the question does not itself name; shares only where it asks for one."""
    given = _given(question)
    return [
        number
        for number in numbers
        if number.value not in given and (number.factor != 0.01 or _ASKS_SHARE.search(question))
    ]


def count_given(numbers: list[FoundNumber], said: list[FoundNumber], question: str) -> list[int]:
    """How many of the question's numbers each takes, worked out step by step from numbers of the response."""
    values = list(dict.fromkeys(number.value for number in numbers))
    given = _given(question)
    if len(given) < 2 or len(values) > MAX_VALUES or len(given) > MAX_VALUES:
        return [0] * len(said)
    taken = _taken(values, given)
    return [len(taken.get(number.value, ())) for number in said]


def _taken(values: list[int | float], given: frozenset[int | float]) -> dict[int | float, frozenset[int | float]]:
    """Which of the given numbers sums, differences, products and quotients take to make a value."""
    taken = {value: frozenset([value]) for value in given}
    for _ in range(MAX_STEPS):
        made = {
            value: max((taken[one] | taken[other] for one, other in pairs), key=len)
            for value in values
            if value not in taken and (pairs := [pair for pair in permutations(taken, 2) if _makes(*pair, value)])
        }
        if not made:
            break
        taken |= made
    return taken


def _makes(one: float, other: float, value: float) -> bool:
    return value in (one + other, one - other, one * other, (one + other) / 2) or (
        other != 0 and abs(one / other - value) < 1e-9
    )


@lru_cache(maxsize=1024)
def _given(question: str) -> frozenset[int | float]:
    text = readable(plain(question[-MAX_QUESTION:]))
    written = [value for number in find_numbers(text) for value in number.readings()]
    return frozenset([*written, *(number.value for number in find_spelt(text, 0, len(text)))])
