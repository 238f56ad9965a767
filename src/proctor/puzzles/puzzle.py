"""What a puzzle is, and how its kinds read questions and answers."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from msgspec import Struct

LEVELS = (1, 2, 3, 4, 5)


class Puzzle(Struct, frozen=True):
    """A question that says how to answer, and its only right answer in its plainest form."""

    question: str
    answer: str
    kind: str
    level: int


class PuzzleReading(Struct, frozen=True):
    """How answers of one sort are understood: two answers are the same when they read as the same value."""

    sort: str
    read: Callable[[str], Any]
    """The value of a text that is nothing but an answer; None when it is no such answer."""
    find: Callable[[str], Any]
    """The value of an answer somewhere in a sentence; None when there is none, or no telling which."""


class PuzzleForm(Struct, frozen=True):
    """One form of question: recognised by its text, solved from its text alone."""

    pattern: re.Pattern[str]
    solve: Callable[[re.Match[str]], str]
    reading: PuzzleReading
