"""Number sequences; the sort of rule is stated, so that only one next term is right."""

from __future__ import annotations

import re
from itertools import pairwise

from proctor.puzzles.dice import Dice
from proctor.puzzles.puzzle import Puzzle, PuzzleForm
from proctor.puzzles.readings import NUMBER

_RULES = {
    1: "the same number is added each time",
    2: "each term is the one before it times the same number",
    3: "the difference between neighbours grows by the same number each time",
    4: "each term from the third on is the sum of the two before it",
    5: "each term is the one before it times a fixed whole number, plus a fixed whole number",
}


def make(dice: Dice, level: int) -> Puzzle:
    terms = {1: _added, 2: _multiplied, 3: _growing, 4: _summed, 5: _affine}[level](dice)
    shown, answer = terms[:-1], terms[-1]
    question = (
        f"In this sequence {_RULES[level]}: {', '.join(map(str, shown))}. What is the next term?"
        "\nEnd with: ANSWER: the number"
    )
    return Puzzle(question, str(answer), "sequences", level)


def _added(dice: Dice) -> list[int]:
    first, step = dice.between(1, 200), dice.between(2, 60)
    return [first + step * place for place in range(6)]


def _multiplied(dice: Dice) -> list[int]:
    first, factor = dice.between(2, 1999), dice.between(2, 9)
    return [first * factor**place for place in range(5)]


def _growing(dice: Dice) -> list[int]:
    terms, step, growth = [dice.between(-40, 40)], dice.between(1, 25), dice.between(2, 15)
    for _ in range(6):
        terms.append(terms[-1] + step)
        step += growth
    return terms


def _summed(dice: Dice) -> list[int]:
    terms = [dice.between(2, 199), dice.between(2, 199)]
    while len(terms) < 8:
        terms.append(terms[-1] + terms[-2])
    return terms


def _affine(dice: Dice) -> list[int]:
    factor, constant, terms = dice.between(2, 6), dice.between(-30, 30), [dice.between(31, 90)]
    while len(terms) < 6:
        terms.append(terms[-1] * factor + constant)
    return terms


def _next(rule: str, terms: list[int]) -> int:
    level = next(level for level, text in _RULES.items() if text == rule)
    gaps = [second - first for first, second in pairwise(terms)]
    if level == 1:
        return terms[-1] + gaps[0]
    if level == 2:
        return terms[-1] * terms[-1] // terms[-2]
    if level == 3:
        return terms[-1] + gaps[-1] + (gaps[-1] - gaps[-2])
    if level == 4:
        return terms[-1] + terms[-2]
    factor = gaps[1] // gaps[0]
    return terms[-1] * factor + terms[1] - terms[0] * factor


FORMS = (
    PuzzleForm(
        re.compile(rf"In this sequence ({'|'.join(_RULES.values())}): ([-\d, ]+)\. What is the next term\?"),
        lambda match: str(_next(match[1], [int(term) for term in match[2].split(", ")])),
        NUMBER,
    ),
)
