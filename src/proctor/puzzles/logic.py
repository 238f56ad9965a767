"""Reasoning: who is tallest, what is true, who tells the truth. Every question has exactly one answer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise, product

from proctor.puzzles.dice import Dice
from proctor.puzzles.puzzle import Puzzle, PuzzleForm
from proctor.puzzles.readings import NAMES as NAME_SET
from proctor.puzzles.readings import TRUTH, WORD
from proctor.puzzles.words import NAMES

_ORDINALS = ("tallest", "second tallest", "third tallest", "fourth tallest", "fifth tallest", "sixth tallest")
_TELLERS = "Each of these people is a knight, who always tells the truth, or a knave, who always lies: "


def make(dice: Dice, level: int) -> Puzzle:
    question, answer = {1: _heights, 2: _heights, 3: _truth, 4: _knights, 5: _knights}[level](dice, level)
    return Puzzle(question, answer, "logic", level)


def _heights(dice: Dice, level: int) -> tuple[str, str]:
    people = dice.sample(NAMES, 4 if level == 1 else 6)
    facts = [f"{a} is taller than {b}." for a, b in pairwise(people)]
    place = dice.below(len(people))
    listed = " ".join(dice.sample(facts, len(facts)))
    return f"{listed} Who is the {_ORDINALS[place]} of them?\nEnd with: ANSWER: the name", people[place]


def _truth(dice: Dice, _: int) -> tuple[str, str]:
    text, value = _formula(dice, 6)
    question = (
        f"Is this true or false ('not' binds closest; brackets show the rest): {text}?\nEnd with: ANSWER: true or false"
    )
    return question, "true" if value else "false"


def _formula(dice: Dice, leaves: int) -> tuple[str, bool]:
    negated = dice.below(3) == 0
    if leaves == 1:
        value = dice.below(2) == 1
        text = "true" if value else "false"
    else:
        left_count = dice.between(1, leaves - 1)
        left, left_value = _formula(dice, left_count)
        right, right_value = _formula(dice, leaves - left_count)
        is_and = dice.below(2) == 1
        text = f"({left} {'and' if is_and else 'or'} {right})"
        value = (left_value and right_value) if is_and else (left_value or right_value)
    return (f"not {text}", not value) if negated else (text, value)


def _knights(dice: Dice, level: int) -> tuple[str, str]:
    people = dice.sample(NAMES, 3 if level == 4 else 5)
    while True:
        kinds = {name: dice.below(2) == 1 for name in people}
        said = [_claim(dice, name, people, kinds) for name in people]
        claims = [(name, *_parsed(claim)) for name, claim in zip(people, said, strict=True)]
        if len(list(_consistent(people, claims))) == 1:
            break
    lines = "\n".join(f"{name} says: {claim}" for name, claim in zip(people, said, strict=True))
    question = (
        f"{_TELLERS}{', '.join(people)}.\n{lines}\nWho are the knights?"
        "\nEnd with: ANSWER: their names, separated by commas, or 'nobody'"
    )
    return question, ", ".join(name for name in people if kinds[name]) or "nobody"


def _claim(dice: Dice, speaker: str, people: Sequence[str], kinds: dict[str, bool]) -> str:
    """A claim that a knight makes because it holds, and a knave because it does not."""
    first, second = dice.sample([name for name in people if name != speaker], 2)
    if dice.below(2):
        says_knight = kinds[first] == kinds[speaker]
        return f"{first} is a {'knight' if says_knight else 'knave'}."
    says_same = (kinds[first] == kinds[second]) == kinds[speaker]
    return f"{first} and {second} are {'the same' if says_same else 'different'}."


_Claim = tuple[str, str, str | None, bool]


def _parsed(claim: str) -> tuple[str, str | None, bool]:
    alone = re.fullmatch(r"(\w+) is a (knight|knave)\.", claim)
    if alone:
        return alone[1], None, alone[2] == "knight"
    pair = re.fullmatch(r"(\w+) and (\w+) are (the same|different)\.", claim)
    if not pair:
        raise ValueError(f"not a claim: {claim!r}")
    return pair[1], pair[2], pair[3] == "the same"


def _consistent(people: Sequence[str], claims: Sequence[_Claim]) -> Iterator[dict[str, bool]]:
    for bits in product((False, True), repeat=len(people)):
        kinds = dict(zip(people, bits, strict=True))
        if all(
            ((kinds[first] if second is None else kinds[first] == kinds[second]) == claimed) == kinds[speaker]
            for speaker, first, second, claimed in claims
        ):
            yield kinds


def _solve_heights(match: re.Match[str]) -> str:
    """The one who has as many people above as the question says."""
    above: dict[str, set[str]] = {}
    for taller, shorter in re.findall(r"(\w+) is taller than (\w+)\.", match[1]):
        above.setdefault(taller, set())
        above.setdefault(shorter, set()).add(taller)
    for _ in above:
        for who in above.values():
            who.update(*(above[name] for name in tuple(who)))
    return next(name for name, who in above.items() if len(who) == _ORDINALS.index(match[2]))


def _solve_truth(match: re.Match[str]) -> str:
    """Rewrite the innermost parts until one word is left."""
    text, before = match[1], ""
    while text != before:
        before = text
        text = text.replace("not true", "false").replace("not false", "true")
        text = re.sub(r"\((true|false) (and|or) (true|false)\)", _evaluated, text)
    return text


def _evaluated(match: re.Match[str]) -> str:
    values = {match[1], match[3]}
    if match[2] == "and":
        return "false" if "false" in values else "true"
    return "true" if "true" in values else "false"


def _solve_knights(match: re.Match[str]) -> str:
    people = match[1].split(", ")
    claims = [(name, *_parsed(claim)) for name, claim in re.findall(r"(\w+) says: (.+)", match[2])]
    (kinds,) = _consistent(people, claims)
    return ", ".join(name for name in people if kinds[name]) or "nobody"


FORMS = (
    PuzzleForm(
        re.compile(rf"((?:\w+ is taller than \w+\. )+)Who is the ({'|'.join(_ORDINALS)}) of them\?"),
        _solve_heights,
        WORD,
    ),
    PuzzleForm(re.compile(r"Is this true or false \([^)]+\): ([a-z() ]+)\?"), _solve_truth, TRUTH),
    PuzzleForm(
        re.compile(_TELLERS + r"([\w, ]+)\.\n((?:\w+ says: [^\n]+\n)+)Who are the knights\?"),
        _solve_knights,
        NAME_SET,
    ),
)
