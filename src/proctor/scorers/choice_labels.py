"""Whether a letter in a response is an option's label, and what is made of it there."""

from __future__ import annotations

import re

from proctor.scorers.choice_patterns import CHOSEN_BY_OTHERS, CONDITION, FOLLOWERS, NAMED, PREDICATE, Patterns
from proctor.scorers.lazy_pattern import lazy_pattern
from proctor.scorers.markers import CORRECTION, NEGATION
from proctor.scorers.stance import is_asked

_NAMED_IN_CORRECTION = lazy_pattern(
    r"[)\]*_\"'”」]*(?:[.!,。！，\n]|\Z|\s+(?:is\s+(?:correct|right|the)|ist\s+(?:richtig|korrekt)|est\s+(?:la"
    r"|correct)|es\s+(?:la|correct))"
    r"|\s?(?:です|だ|でした|になり|が正|を選|입니다|이에요|예요|네요|요|가\s|이\s|를\s|项|才|是正))"
)

_WOULD = lazy_pattern(r"\b(?:would|wäre|serait|sería)\b", re.IGNORECASE)


def is_label(text: str, position: int, letter: str, opening: str = "") -> bool:
    """Whether this letter is an option's label and not a word such as 'a' or 'I'."""
    if letter.isdigit():
        return True
    after = text[position + 1 : position + 2]
    if is_asked(text, position + 1):
        return False
    if opening.strip("*_"):
        return after in ")]}\"'”’>" or letter.isupper()
    if letter.islower():
        return after in (")", ".", ":", "]", "*", "_", "") or (letter not in "aeiouy" and after in " \n,;!")
    if letter not in "AI" or FOLLOWERS.match(text, position + 1):
        return True
    if letter == "A" and PREDICATE.match(text, position + 1):
        return True
    return letter == "A" and NAMED.search(text, max(0, position - 12), position) is not None


def is_conditional(text: str, position: int, end: int | None = None) -> bool:
    """'If it is a normal good, A is right' settles nothing, nor does 'A would be right if it were one'."""
    clause = re.split(r"[.;\n]", text[max(0, position - 80) : position])[-1]
    if CONDITION.search(clause) is not None:
        return True
    return (
        end is not None
        and _WOULD.search(text, position, end) is not None
        and CONDITION.match(text, end + 1) is not None
    )


def read_correction(text: str, end: int, patterns: Patterns) -> tuple[str, str] | None:
    """The option named after words such as 'wait' that follow the statement."""
    if len(text) - end < 6:
        return None
    found = None
    for correction in CORRECTION.finditer(text, end):
        for label in patterns.label.finditer(text, correction.end(), correction.end() + 160):
            gap = text[correction.end() : label.start("label")]
            if (
                _NAMED_IN_CORRECTION.match(text, label.end())
                and not NEGATION.search(gap)
                and is_label(text, label.start("label"), label["label"])
            ):
                found = (label["label"].upper(), "named in a correction")
    return found


def mentioned_in(text: str, patterns: Patterns, start: int = 0) -> set[str]:
    """The labels that a text names; what others choose is not counted."""
    return {
        found[found.lastindex or 0].upper()
        for found in patterns.mention.finditer(text, start)
        if (found.lastindex != 5 or is_label(text, found.start(5), found[5]))
        and not CHOSEN_BY_OTHERS.search(text, max(0, found.start() - 40), found.start())
    }
