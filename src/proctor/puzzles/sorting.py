"""Putting things in order, by rules that leave no two orders possible."""

from __future__ import annotations

import re
from itertools import pairwise

from proctor.puzzles.dice import Dice
from proctor.puzzles.puzzle import Puzzle, PuzzleForm
from proctor.puzzles.readings import LIST
from proctor.puzzles.words import NAMES, WORDS

_END = "\nEnd with: ANSWER: the list, separated by commas"
_DIRECTIONS = ("from smallest to largest", "from largest to smallest")


def make(dice: Dice, level: int) -> Puzzle:
    maker = {1: _numbers, 2: _numbers, 3: _words, 4: _by_length, 5: _records}[level]
    question, answer = maker(dice, level)
    return Puzzle(question + _END, ", ".join(answer), "sorting", level)


def _numbers(dice: Dice, level: int) -> tuple[str, list[str]]:
    low, high, count = (1, 99, 5) if level == 1 else (-500, 500, 9)
    numbers = dice.sample(range(low, high + 1), count)
    descending = level > 1 and dice.below(2) == 1
    ordered = sorted(numbers, reverse=descending)
    return f"Sort these numbers {_DIRECTIONS[descending]}: {_join(numbers)}.", [str(number) for number in ordered]


def _words(dice: Dice, _: int) -> tuple[str, list[str]]:
    words = dice.sample(WORDS, 8)
    return f"Sort these words alphabetically: {_join(words)}.", sorted(words)


def _by_length(dice: Dice, _: int) -> tuple[str, list[str]]:
    words = dice.sample(WORDS, 9)
    question = f"Sort these words from shortest to longest, words of equal length alphabetically: {_join(words)}."
    return question, sorted(words, key=lambda word: (len(word), word))


def _records(dice: Dice, _: int) -> tuple[str, list[str]]:
    people = [(name, dice.between(1, 4), dice.between(20, 29)) for name in dice.sample(NAMES, 9)]
    listed = "; ".join(f"{name} (score {score}, age {age})" for name, score, age in people)
    question = (
        "Sort these people by score from highest to lowest, people of equal score by age from youngest to oldest, "
        f"people of equal score and age alphabetically: {listed}. Give the names only."
    )
    return question, [name for name, *_rest in sorted(people, key=lambda person: (-person[1], person[2], person[0]))]


def _join(items: list[int] | list[str]) -> str:
    return ", ".join(map(str, items))


def _insertion(items: list[tuple[object, ...]]) -> list[tuple[object, ...]]:
    """Sorting by hand, so that a solution does not lean on what made the question."""
    ordered: list[tuple[object, ...]] = []
    for item in items:
        place = 0
        while place < len(ordered) and ordered[place] < item:
            place += 1
        ordered.insert(place, item)
    if any(first > second for first, second in pairwise(ordered)):
        raise AssertionError("insertion sort left something out of order")
    return ordered


def _solve_numbers(match: re.Match[str]) -> str:
    ordered = [str(key[0]) for key in _insertion([(int(text),) for text in match[2].split(", ")])]
    return ", ".join(ordered if match[1] == _DIRECTIONS[0] else ordered[::-1])


def _solve_words(match: re.Match[str]) -> str:
    return ", ".join(str(key[0]) for key in _insertion([(word,) for word in match[1].split(", ")]))


def _solve_lengths(match: re.Match[str]) -> str:
    return ", ".join(str(key[1]) for key in _insertion([(len(word), word) for word in match[1].split(", ")]))


def _solve_records(match: re.Match[str]) -> str:
    people = re.findall(r"(\w+) \(score (\d+), age (\d+)\)", match[1])
    keys: list[tuple[object, ...]] = [(-int(score), int(age), name) for name, score, age in people]
    return ", ".join(str(key[2]) for key in _insertion(keys))


FORMS = (
    PuzzleForm(re.compile(rf"Sort these numbers ({'|'.join(_DIRECTIONS)}): ([-\d, ]+)\."), _solve_numbers, LIST),
    PuzzleForm(re.compile(r"Sort these words alphabetically: ([a-z, ]+)\."), _solve_words, LIST),
    PuzzleForm(
        re.compile(r"Sort these words from shortest to longest, words of equal length alphabetically: ([a-z, ]+)\."),
        _solve_lengths,
        LIST,
    ),
    PuzzleForm(re.compile(r"Sort these people by score [^:]+: (.+?)\. Give the names only\."), _solve_records, LIST),
)
