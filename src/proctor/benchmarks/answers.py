"""Expected answers as data sets write them: text, numbers, several texts; and for choices, a letter.

The target of a question with choices is always the letter of the right choice (or several letters), however the data
says which one it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from proctor.benchmarks.schema import AnswerKind, TargetField
from proctor.domain.errors import BenchmarkError
from proctor.domain.sample import Target
from proctor.prompts.choices import LETTERS

SECONDS = 1.0
"""For a pattern of a stranger on one target."""
_Read = Callable[[Mapping[str, Any]], Any]


def text_of(value: Any) -> str | None:
    """A plain value as text, numbers and truth values as JSON spells them; None for anything else."""
    if type(value) is str:
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int | float) else None


class TargetReader:
    """Reads the target of a row."""

    def __init__(self, field: TargetField | None, labels: _Read | None, reader: Callable[[str, str], _Read]) -> None:
        self._read = reader(field.field, "target") if field else lambda row: row.get("target")
        self._labels = labels
        self._kind: AnswerKind = field.kind if field else "auto"
        self._separator = field.separator if field else None
        self._pattern = _compiled(field.pattern) if field and field.pattern else None

    def read(self, row: Mapping[str, Any], choices: Sequence[str]) -> Target | None:
        """None when the row says nothing; raises ValueError for what cannot be an answer."""
        value = self._read(row)
        if type(value) is str and not choices and self._pattern is None and self._separator is None:
            return value if value.strip() else None
        if value is None or value == "":
            return None
        if isinstance(value, Mapping) and choices:
            value = [key for key, mark in value.items() if mark]  # the form of TruthfulQA: {choice: 1 or 0}
        if isinstance(value, list | tuple):
            if not value:
                raise ValueError("the list of targets is empty")
            return tuple(self._one(item, row, choices) for item in value)
        if self._separator is not None and type(value) is str:
            parts = [part.strip() for part in value.split(self._separator)]
            return tuple(self._one(part, row, choices) for part in parts if part)
        return self._one(value, row, choices)

    def _one(self, value: Any, row: Mapping[str, Any], choices: Sequence[str]) -> str:
        if self._pattern is not None:
            value = self._matched(value)
        if choices and self._kind != "plain":
            labels = self._labels(row) if self._labels else None
            return letter_of(value, choices, self._kind, labels)
        text = text_of(value)
        if text is None:
            raise ValueError(f"the target must be text, a number or a list of these, not {value!r:.60}")
        return text

    def _matched(self, value: Any) -> str:
        try:
            found = list(self._pattern.finditer(text_of(value) or "", timeout=SECONDS)) if self._pattern else []
        except TimeoutError:
            raise BenchmarkError(
                f"dataset.fields.target.pattern took more than {SECONDS:g} s on {value!r:.60}: "
                "write it without nested or overlapping repetitions."
            ) from None
        if not found:
            raise ValueError(f"the target {value!r:.60} does not match the pattern of dataset.fields.target")
        return str(found[-1].group(1 if found[-1].re.groups else 0)).strip()


def letter_of(value: Any, choices: Sequence[str], kind: AnswerKind, labels: Sequence[Any] | None = None) -> str:
    """The letter of the choice that `value` means; raises ValueError when it means none, or two."""
    if labels is not None and kind in ("auto", "label"):
        return _letter_at([str(label) for label in labels], str(value), choices, "labels")
    if kind in ("index", "position") or (kind == "auto" and type(value) is int):
        return _letter_counted(value, choices, 1 if kind == "position" else 0)
    text = text_of(value)
    if text is None or kind == "label":
        raise ValueError(f"{value!r:.60} does not say which choice is right")
    as_letter = text.strip().upper()
    is_letter = kind != "text" and len(as_letter) == 1 and as_letter in LETTERS[: len(choices)]
    if kind == "letter" or (is_letter and text not in choices):
        if not is_letter:
            raise ValueError(f"{text!r:.60} is not a letter of one of the {len(choices)} choices")
        return as_letter
    if is_letter and choices.index(text) != LETTERS.index(as_letter):
        raise ValueError(
            f"{text!r} is a letter and also a choice's text; say which with 'kind: letter' or 'kind: text'"
        )
    return _letter_at(choices, text, choices, "choices")


def _letter_at(known: Sequence[str], value: str, choices: Sequence[str], where: str) -> str:
    places = [place for place, label in enumerate(known) if label == value]
    if len(places) != 1 or places[0] >= len(choices):
        several = "more than one" if places else "none"
        hint = " (say how the target is written with 'kind': index, position, letter or text)" if not places else ""
        raise ValueError(f"the target {value!r:.60} is {several} of the {where}{hint}")
    return LETTERS[places[0]]


def _letter_counted(value: Any, choices: Sequence[str], first: int) -> str:
    text = text_of(value) or ""
    number = int(text) - first if re.fullmatch(r"\d{1,9}", text.strip()) else -1
    if not 0 <= number < len(choices):
        last = len(choices) - 1 + first
        raise ValueError(f"the target {value!r:.60} is not a number from {first} to {last}, one of the choices")
    return LETTERS[number]


def _compiled(pattern: str) -> Any:
    regex = import_module("regex")  # its matcher stops when its time is over; Python's own does not
    try:
        return regex.compile(pattern, regex.MULTILINE)
    except (regex.error, RecursionError, OverflowError) as mistake:
        raise BenchmarkError(f"dataset.fields.target.pattern is not a regular expression: {mistake}.") from mistake
