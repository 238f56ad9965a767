"""Letters: counting, reversing, shifting, and several of these in a row."""

from __future__ import annotations

import re
from collections.abc import Callable

from proctor.puzzles.dice import Dice
from proctor.puzzles.puzzle import Puzzle, PuzzleForm
from proctor.puzzles.readings import NUMBER, WORD

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_VOWELS = "aeiou"
_END = "\nEnd with: ANSWER: the resulting letters"


def make(dice: Dice, level: int) -> Puzzle:
    if level == 2:
        return _count(dice)
    text = _random_letters(dice, {1: 6, 3: 10, 4: 7, 5: 9}[level])
    steps = {1: (_reverse,), 3: (_without_vowels, _reverse), 4: (_shift,), 5: (_swap, _shift, _every_second)}[level]
    names = []
    result = text
    for step in dice.sample(steps, len(steps)):
        name, result = step(dice, result)
        names.append(name)
    numbered = "; then ".join(names)
    question = f"Take the letters {text!r} and {numbered}.{_END}"
    return Puzzle(question, result, "strings", level)


def _count(dice: Dice) -> Puzzle:
    letter = dice.pick("aeinorst")
    text = "".join(letter if dice.below(4) == 0 else dice.pick(_LETTERS) for _ in range(24))
    question = f"How many times does the letter {letter!r} occur in {text!r}?\nEnd with: ANSWER: the number"
    return Puzzle(question, str(text.count(letter)), "strings", 2)


def _random_letters(dice: Dice, length: int) -> str:
    """Never without a consonant among the first letters, so that nothing is left empty."""
    return dice.pick("bcdfgk") + "".join(dice.pick(_LETTERS) for _ in range(length - 1))


def _reverse(_: Dice, text: str) -> tuple[str, str]:
    return "reverse their order", text[::-1]


def _without_vowels(_: Dice, text: str) -> tuple[str, str]:
    return "remove every a, e, i, o and u", "".join(letter for letter in text if letter not in _VOWELS)


def _shift(dice: Dice, text: str) -> tuple[str, str]:
    by = dice.between(1, 12)
    shifted = "".join(chr((ord(letter) - 97 + by) % 26 + 97) for letter in text)
    return f"move each letter {by} places forward in the alphabet (after z comes a)", shifted


def _swap(_: Dice, text: str) -> tuple[str, str]:
    return "exchange the first and the last letter", text[-1] + text[1:-1] + text[0] if len(text) > 1 else text


def _every_second(_: Dice, text: str) -> tuple[str, str]:
    return "keep only the 1st, 3rd, 5th letter and so on", text[::2]


def _apply(step: str, text: str) -> str:
    """One step, done letter by letter from its words."""
    letters = list(text)
    moved = re.match(r"move each letter (\d+) places forward", step)
    if moved:
        return "".join(_LETTERS[(_LETTERS.index(letter) + int(moved[1])) % 26] for letter in letters)
    steps: dict[str, Callable[[], str]] = {
        "reverse their order": lambda: "".join(reversed(letters)),
        "remove every a, e, i, o and u": lambda: re.sub("[aeiou]", "", text),
        "exchange the first and the last letter": lambda: re.sub(r"^(.)(.*)(.)$", r"\3\2\1", text),
        "keep only the 1st, 3rd, 5th letter and so on": lambda: "".join(
            letter for place, letter in enumerate(letters) if place % 2 == 0
        ),
    }
    return steps[step]()


def _solve_steps(match: re.Match[str]) -> str:
    text = match[1]
    for step in match[2].split("; then "):
        text = _apply(step, text)
    return text


FORMS = (
    PuzzleForm(re.compile(r"Take the letters '([a-z]+)' and (.+)\.\nEnd with"), _solve_steps, WORD),
    PuzzleForm(
        re.compile(r"How many times does the letter '([a-z])' occur in '([a-z]+)'\?"),
        lambda match: str(sum(letter == match[1] for letter in match[2])),
        NUMBER,
    ),
)
