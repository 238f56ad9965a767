"""Which of several options that are numbers a response arrives at: '6 sides' where the options are four, five, six."""

from __future__ import annotations

from functools import lru_cache

from proctor.scorers.number_words import find_spelt
from proctor.scorers.numbers import find_numbers
from proctor.scorers.numeric_facts import FACT
from proctor.scorers.numeric_reading import read_number

MAX_TEXT = 240
MAX_OPTION = 40
"""A longer option says more than a number."""


def option_counted(text: str, choices: tuple[str, ...], labels: str, question: str) -> str | None:
    values = _values(choices)
    if values is None or len(text) > MAX_TEXT:
        return None
    said = {number.value for number in (*find_numbers(text), *find_spelt(text))}
    reading = read_number(text, question=question)
    if len(said.intersection(values)) != 1 and not (reading and reading.how == FACT):
        return None
    if reading is None or reading.is_range or reading.number.value not in values:
        return None
    return labels[values.index(reading.number.value)]


@lru_cache(maxsize=1024)
def _values(choices: tuple[str, ...]) -> tuple[int | float, ...] | None:
    """The number of each option; None where one has none, or two have the same."""
    if not choices or max(map(len, choices)) > MAX_OPTION:
        return None
    readings = [read_number(choice) for choice in choices]
    values = tuple(reading.number.value for reading in readings if reading and not reading.is_range)
    return values if len(set(values)) == len(choices) else None
