"""Sums: longer, larger and more nested with the level."""

from __future__ import annotations

import re

from proctor.puzzles.dice import Dice
from proctor.puzzles.puzzle import Puzzle, PuzzleForm
from proctor.puzzles.readings import NUMBER

_TOKEN = re.compile(r"\d+|[-+*()]")


def make(dice: Dice, level: int) -> Puzzle:
    text, value, _ = _expression(dice, level)
    if level < 5:
        question = f"Compute {text}, with the usual order of operations.\nEnd with: ANSWER: the number"
        return Puzzle(question, str(value), "arithmetic", level)
    divisor = dice.between(7, 97)
    question = (
        f"Compute {text}, with the usual order of operations, then the remainder of that result when divided by "
        f"{divisor} (a remainder is never negative).\nEnd with: ANSWER: the remainder"
    )
    return Puzzle(question, str(value % divisor), "arithmetic", level)


def _expression(dice: Dice, level: int) -> tuple[str, int, int]:
    """Text, value, and how tightly the outermost operator binds (3: a number)."""
    numbers = level + 1 if level > 1 else 3
    return _tree(dice, numbers, 99 if level < 4 else 999, "+-" if level == 1 else "+-*")


def _tree(dice: Dice, numbers: int, largest: int, operators: str) -> tuple[str, int, int]:
    if numbers == 1:
        value = dice.between(2, largest)
        return str(value), value, 3
    left_count = dice.between(1, numbers - 1)
    operator = dice.pick(operators)
    factor = 12 if operator == "*" else largest
    left, left_value, left_binds = _tree(dice, left_count, factor, operators)
    right, right_value, right_binds = _tree(dice, numbers - left_count, factor, operators)
    binds = 2 if operator == "*" else 1
    if left_binds < binds:
        left = f"({left})"
    if right_binds <= binds and right_binds < 3:
        right = f"({right})"
    value = {"+": left_value + right_value, "-": left_value - right_value, "*": left_value * right_value}[operator]
    return f"{left} {operator} {right}", value, binds


def evaluate(text: str) -> int:
    """The value of an expression with + - * and brackets."""
    tokens = _TOKEN.findall(text)
    value, rest = _sum(tokens, 0)
    if rest != len(tokens):
        raise ValueError(f"not an expression: {text!r}")
    return value


def _sum(tokens: list[str], place: int) -> tuple[int, int]:
    value, place = _product(tokens, place)
    while place < len(tokens) and tokens[place] in "+-":
        other, after = _product(tokens, place + 1)
        value = value + other if tokens[place] == "+" else value - other
        place = after
    return value, place


def _product(tokens: list[str], place: int) -> tuple[int, int]:
    value, place = _atom(tokens, place)
    while place < len(tokens) and tokens[place] == "*":
        other, place = _atom(tokens, place + 1)
        value *= other
    return value, place


def _atom(tokens: list[str], place: int) -> tuple[int, int]:
    if tokens[place] == "(":
        value, place = _sum(tokens, place + 1)
        return value, place + 1
    return int(tokens[place]), place + 1


FORMS = (
    PuzzleForm(
        re.compile(
            r"Compute ([-+*()\d ]+), with the usual order of operations, then the remainder of that result when "
            r"divided by (\d+)"
        ),
        lambda match: str(evaluate(match[1]) % int(match[2])),
        NUMBER,
    ),
    PuzzleForm(
        re.compile(r"Compute ([-+*()\d ]+), with the usual order of operations\."),
        lambda match: str(evaluate(match[1])),
        NUMBER,
    ),
)
