"""What a demo model says: right answers, plausible wrong ones, and guesses."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, timedelta

from proctor.puzzles import family
from proctor.puzzles.dice import Dice
from proctor.puzzles.readings import WEEKDAYS

CHOICE = re.compile(r"^[\s>*-]*\(?([A-Z]|\d{1,2})[.):：]\s*\S", re.MULTILINE)
NUMBER = re.compile(r"-?\d+")
NAME = re.compile(r"\b[A-Z][a-z]{2,}\b")
ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def solve(question: str) -> str | None:
    """The right answer to one of Proctor's puzzles; None for anything else."""
    return family.solve(question)


def guess(question: str, dice: Dice) -> str:
    """One of the choices on offer, else something of the sort that the question asks for."""
    reading = family.reading_of(question)
    if reading is not None:
        right = family.solve(question) or ""
        # A guess may hit: as often as a blind pick between two or seven would.
        odds = {"true or false": 2, "a day of the week": 7}.get(reading.sort, 0)
        return right if odds and dice.below(odds) == 0 else blunder(question, right, dice)
    choices: list[str] = list(dict.fromkeys(CHOICE.findall(question)))
    if len(choices) > 1:
        return dice.pick(choices)
    numbers = [int(number) for number in NUMBER.findall(question) if len(number) < 16]
    if numbers:
        return str(dice.pick(numbers) + dice.between(0, 9))
    return dice.pick(("yes", "no", "both", "neither", "it depends"))


def blunder(question: str, right: str, dice: Dice) -> str:
    """A plausible wrong answer: the slip of a digit, a day, a letter or a place."""
    reading = family.reading_of(question)
    slip = SLIPS.get(reading.sort if reading else "", _slip_of_word)
    for _ in range(20):
        wrong = slip(right, question, dice)
        if reading is None or reading.read(wrong) != reading.read(right):
            return wrong
    return f"not {right}"


def _slip_of_number(right: str, question: str, dice: Dice) -> str:  # noqa: ARG001
    found = NUMBER.search(right)
    value = int(found[0]) if found else 0
    return str(value + dice.pick((1, -1, 2, -2, 10, -10)))


def _slip_of_date(right: str, question: str, dice: Dice) -> str:  # noqa: ARG001
    found = ISO_DATE.search(right)
    if found is None:
        return _slip_of_number(right, "", dice)
    return (date.fromisoformat(found[0]) + timedelta(days=dice.pick((1, -1, 2, 7)))).isoformat()


def _slip_of_weekday(right: str, question: str, dice: Dice) -> str:  # noqa: ARG001
    place = [day.lower() for day in WEEKDAYS].index(right.lower())
    return WEEKDAYS[(place + dice.between(1, 6)) % 7]


def _slip_of_truth(right: str, question: str, dice: Dice) -> str:  # noqa: ARG001
    return "false" if right.lower() == "true" else "true"


def _slip_of_word(right: str, question: str, dice: Dice) -> str:  # noqa: ARG001
    if len(right) < 2:
        return right + dice.pick("aeiou")
    place = dice.below(len(right) - 1)
    swapped = right[:place] + right[place + 1] + right[place] + right[place + 2 :]
    return swapped if swapped != right else right[:place] + right[place + 1 :]


def _slip_of_list(right: str, question: str, dice: Dice) -> str:  # noqa: ARG001
    items = [item.strip() for item in right.split(",")]
    if len(items) < 2:
        return f"{right}, {right}"
    place = dice.below(len(items) - 1)
    items[place], items[place + 1] = items[place + 1], items[place]
    return ", ".join(items)


def _slip_of_names(right: str, question: str, dice: Dice) -> str:
    """Somebody too many, or somebody too few."""
    names = [name.strip() for name in right.split(",")]
    others = [name for name in dict.fromkeys(NAME.findall(question)) if name not in names]
    if len(names) > 1 and (not others or dice.below(2)):
        names.pop(dice.below(len(names)))
    elif others:
        names = [name for name in names if name.lower() != "nobody"] + [dice.pick(others)]
    return ", ".join(names)


SLIPS: dict[str, Callable[[str, str, Dice], str]] = {
    "a number": _slip_of_number,
    "a date": _slip_of_date,
    "a day of the week": _slip_of_weekday,
    "true or false": _slip_of_truth,
    "one word": _slip_of_word,
    "a list": _slip_of_list,
    "a set of names": _slip_of_names,
}
