"""Answers as people and models write them: numbers, words, lists, dates, days of the week, true or false."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from proctor.puzzles.puzzle import PuzzleReading

MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

_WRAPPING = " \t\r\n*_`\"'“”‘’«»$"
_SPACES = re.compile(r"\s+")
_NUMBER = re.compile(r"[-+−–]?(?:\d{1,3}(?:[,  ' ]\d{3})+|\d+)(?:\.\d+)?(?![\d.]*\d)")
_MONTH = "|".join(f"{name[:3]}(?:{name[3:]})?" if len(name) > 3 else name for name in MONTHS).replace(
    "Sep(?:tember)?", "Sept?(?:ember)?"
)
_DATES = (
    re.compile(r"\b(?P<year>\d{4})[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})\b"),
    re.compile(
        rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\.?\s+(?:of\s+)?(?P<month>{_MONTH})\.?,?\s+(?P<year>\d{{4}})\b",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\b(?P<month>{_MONTH})\.?\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<year>\d{{4}})\b", re.IGNORECASE
    ),
    re.compile(r"\b(?P<day>\d{1,2})\.\s?(?P<month>\d{1,2})\.\s?(?P<year>\d{4})\b"),
    re.compile(r"\b(?P<year>\d{4})\s?[年년]\s?(?P<month>\d{1,2})\s?[月월]\s?(?P<day>\d{1,2})\s?[日일号]"),
)
_SLASHED = re.compile(r"\b(\d{1,2})/(\d{1,2})/(\d{4})\b")
_SHORT_WEEKDAY = re.compile(r"(Mon|Tues?|Wed|Thu(?:rs?)?|Fri|Sat|Sun)\.?", re.IGNORECASE)
_WEEKDAY = re.compile(rf"\b({'|'.join(WEEKDAYS)})s?\b", re.IGNORECASE)
_TRUTH = re.compile(r"\b(true|false)\b", re.IGNORECASE)
_COPULA = re.compile(r"=|:|\b(?:is|are|equals?|gives|makes)\b", re.IGNORECASE)
_SEPARATOR = re.compile(r"\s*(?:,\s*and\b|,|;|\n|\band\b|&|<|>|→|->)\s*", re.IGNORECASE)
_BULLET = re.compile(r"^(?:[-*•]\s+|\d+[.)]\s+)")
MAX_NUMBER_LENGTH = 1000


def bare(text: str) -> str:
    """A text without the emphasis, quotes and full stop around it."""
    text = text.strip(_WRAPPING)
    while text.endswith((".", "!", "。")):
        text = text[:-1].strip(_WRAPPING)
    return text


def _number(text: str) -> Any:
    digits = re.sub(r"[,  ' ]", "", text).replace("−", "-").replace("–", "-")
    whole, _, fraction = digits.partition(".")
    # Python refuses to convert thousands of digits; such a number is compared as it is written.
    return digits if fraction.strip("0") or len(whole) > MAX_NUMBER_LENGTH else int(whole)


def _read_number(text: str) -> Any:
    text = bare(text.rpartition("=")[2])
    if _NUMBER.fullmatch(text):
        return _number(text)
    numbers = _NUMBER.findall(text)  # '12 days', 'the number is 12'
    return _number(numbers[0]) if len(numbers) == 1 and len(text) < 40 else None


def _find_number(text: str) -> Any:
    """What a sentence comes to; one that leaves two numbers open has not answered."""
    numbers = _NUMBER.findall(_COPULA.split(text)[-1]) or _NUMBER.findall(text)
    return _number(numbers[0]) if len(numbers) == 1 else None


def _dates_in(text: str) -> list[tuple[int, int, int]]:
    found = []
    for pattern in _DATES:
        for match in pattern.finditer(text):
            month = match["month"]
            number = int(month) if month.isdigit() else [name[:3] for name in MONTHS].index(month[:3].title()) + 1
            found.append((match.start(), (int(match["year"]), number, int(match["day"]))))
    for match in _SLASHED.finditer(text):
        first, second, year = map(int, match.groups())
        # 03/04/2020 is two dates, depending on the reader: only what cannot be misread counts.
        if first > 12 or first == second:
            found.append((match.start(), (year, second, first)))
        elif second > 12:
            found.append((match.start(), (year, first, second)))
    return [date for _, date in sorted(found)]


def _read_date(text: str) -> Any:
    if re.search(r"\d\s+or\s", text, re.IGNORECASE):  # 'Jan 9 or Jan 10, 2023': one of them has no year
        return None
    dates = set(_dates_in(text))
    return dates.pop() if len(dates) == 1 else None


def _one_of(pattern: re.Pattern[str]) -> Callable[[str], Any]:
    """The only one that is named: who names two has not answered."""

    def read(text: str) -> Any:
        found = {match.lower() for match in pattern.findall(text)}
        return found.pop() if len(found) == 1 else None

    return read


def _read_weekday(text: str) -> Any:
    """The only one that is named; where nothing else is said, its first letters will do."""
    short = _SHORT_WEEKDAY.fullmatch(bare(text))
    if short:
        return next(day.lower() for day in WEEKDAYS if day.lower().startswith(short[1].lower()[:3]))
    return _one_of(_WEEKDAY)(text)


def _read_word(text: str) -> Any:
    text = bare(text)
    if _SPACES.search(text):
        return _last_word(text)  # 'the word is banana'
    return text.casefold() or None


def _find_word(text: str) -> Any:
    """Only what is set apart counts: a bare sentence has too many words."""
    text = text.strip()
    quoted = re.findall(r"[\"“'‘`*]+([A-Za-z0-9]+)[\"”'’`*]+", text)
    if quoted:
        return str(quoted[-1]).casefold()
    _, colon, rest = text.rpartition(":")
    return _read_word(rest if colon else text) or _last_word(text)


def _last_word(text: str) -> str | None:
    match = re.search(r"\b(?:is|are|was)\s+([A-Za-z0-9]+)[.!*]*$", text)
    return match[1].casefold() if match else None


def _items(text: str) -> tuple[str, ...] | None:
    text = bare(bare(text).strip("[](){}").strip())
    lines = [_BULLET.sub("", line.strip()) for line in text.splitlines() if line.strip()]
    text = "\n".join(lines)
    parts = [bare(part) for part in _SEPARATOR.split(text)]
    if len([part for part in parts if part]) == 1 and _SPACES.search(parts[0]):
        parts = parts[0].split()
    kept = tuple(part.casefold().replace("−", "-") for part in parts if part)
    return kept or None


def _find_items(text: str) -> tuple[str, ...] | None:
    """A list that a sentence ends with; words of an item are few, or it is no list but a sentence."""
    bracketed = re.findall(r"\[([^\[\]]+)\]", text)
    items = _items(bracketed[-1] if bracketed else _COPULA.split(text)[-1])
    is_list = items is not None and (_SEPARATOR.search(text) or len(items) == 1 or all(map(_is_number, items)))
    return items if is_list and items is not None and not any(_SPACES.search(item) for item in items) else None


def _is_number(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None


NOBODY = frozenset({"nobody", "none", "no one", "no-one", "noone"})


def _as_set(items: tuple[str, ...] | None) -> Any:
    if items is None:
        return None
    if NOBODY.issuperset({" ".join(items)}) or set(items) <= NOBODY:
        return frozenset({"nobody"})
    return frozenset(items)


NUMBER = PuzzleReading("a number", _read_number, _find_number)
DATE = PuzzleReading("a date", _read_date, _read_date)
WEEKDAY = PuzzleReading("a day of the week", _read_weekday, _one_of(_WEEKDAY))
TRUTH = PuzzleReading("true or false", _one_of(_TRUTH), _one_of(_TRUTH))
WORD = PuzzleReading("one word", _read_word, _find_word)
LIST = PuzzleReading("a list", _items, _find_items)
NAMES = PuzzleReading("a set of names", lambda text: _as_set(_items(text)), lambda text: _as_set(_find_items(text)))
