"""Amounts of several words: `a dollar`, `two dollars and fifty cents`, `an hour and a half`, `50 to 100 questions`."""

from __future__ import annotations

import re

from msgspec.structs import replace

from proctor.planner.phrases import Phrases
from proctor.planner.words import CJK

ONE = frozenset({"a", "an", "single", "one", "ein", "eine", "einen", "einem", "einer", "un", "una", "une"})
RANGED = ("sample", "example", "currency", "minutes", "seconds", "counter", "epoch")
_OF_OTHERS = ("sample", "minutes", "percent", "epoch", "shot", "token", "total", "each", "only")
_RANGE = re.compile(
    r"-|\u2013|~|\u301c|to|and|or|bis|und|oder|a|y|o|\u00e0|et|ou|\u5230|\u81f3|\uc5d0\uc11c|\u304b\u3089",
    re.IGNORECASE,
)
_BETWEEN = re.compile(r"(?:between|zwischen|entre|from|von|de|desde)\s*$", re.IGNORECASE)
_JOINING = re.compile(rf"[\s,]*(?:and|und|y|con|et)?\s*(?:a|an)?\s*|[{CJK}]?", re.IGNORECASE)


def amount_at(phrases: Phrases, unit: int, number: int | None) -> float | None:
    """The amount before a unit; an article counts as one, and `hour and a half` adds a half."""
    more = 0.5 if phrases.items[unit].means("plushalf") is not None else 0.0
    if number is not None and phrases.is_kind(number, "number"):
        said = phrases.items[number].number or 0
        return said + more if more else said
    begins = phrases.text[: phrases.items[unit].start].rstrip(" '").lower()
    word = re.split(r"[\s']", begins)[-1]
    if word in ONE and unit not in phrases.used:
        return 1 + more
    return 1 + more if more else None


def is_joined(phrases: Phrases, first: int, second: int) -> bool:
    """Whether nothing but `and` stands between two phrases."""
    between = phrases.text[phrases.items[first].end : phrases.items[second].start]
    return bool(_JOINING.fullmatch(between)) and ("," not in between)


def merge_ranges(phrases: Phrases) -> list[tuple[float | int, float | int]]:
    """`50 to 100 questions` as its upper end; the lower ends, which are another reading, are returned with it."""
    found, at = [], 0
    while at + 1 < len(phrases.items):
        first = phrases.items[at]
        second = next(
            (place for place in (at + 1, at + 2, at + 3) if phrases.is_kind(_in(phrases, place), "number")), None
        )
        if first.number is not None and second is not None and _is_range(phrases, at, second):
            high = phrases.items[second]
            merged = replace(high, first=first.first, start=first.start)
            found.append((first.number, high.number or 0))
            phrases.items[at : second + 1] = [merged]
        at += 1
    return found


def _in(phrases: Phrases, place: int) -> int | None:
    return place if place < len(phrases.items) else None


def _is_range(phrases: Phrases, first: int, second: int) -> bool:
    low, high = phrases.items[first], phrases.items[second]
    begins = low.end
    if phrases.is_kind(_in(phrases, first + 1), "sample", "counter") and second > first + 2:  # `30問から50問`
        begins = phrases.items[first + 1].end
    between = phrases.text[begins : high.start].strip(" $")
    if not _RANGE.fullmatch(between) or (low.number or 0) >= (high.number or 0):
        return False
    if phrases.is_kind(
        _in(phrases, first - 1), "level", "shot", "temperature", "top_p", "seed", "parallel", "maxtoken"
    ):
        return False
    is_word = between.lower() in ("and", "or", "und", "oder", "y", "o", "et", "ou", "a", "de")
    is_between = bool(_BETWEEN.search(phrases.text[: low.start].rstrip("$ ")))
    is_next = between.lower() == "or" and low.number == (high.number or 0) - 1
    if is_word and not (is_between or is_next):
        return False
    unit = _in(phrases, second + 1)
    is_priced = first > 0 and phrases.items[first - 1].kind == "currency"
    has_sign = is_priced or "$" in phrases.text[begins : high.start]
    if begins > low.end and unit is not None and not phrases.is_kind(unit, phrases.items[first + 1].kind, "counter"):
        return False  # `12 questions - 50 cents`
    if has_sign and phrases.is_kind(unit, *_OF_OTHERS):
        return False  # `under $2 - 40 questions`
    return is_priced or phrases.is_kind(unit, *RANGED) or phrases.is_kind(_in(phrases, second + 2), "sample")
