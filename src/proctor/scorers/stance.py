"""How a response stands to something it names: it may set it aside, suppose it, leave it open or settle on it."""

from __future__ import annotations

from enum import Enum

from proctor.scorers.lazy_pattern import lazy_pattern
from proctor.scorers.markers import SENTENCE_END
from proctor.scorers.stance_words import (
    AFFIRMATION,
    CANDIDATES,
    CLAUSE_END,
    CONDITION,
    DEPENDS,
    DISMISSED,
    GUESSED,
    MAYBE,
    OPEN,
    RUNNER_UP,
    SEEMING,
    SETTLED,
    SOLE,
    SUPPOSED,
    TURN,
    UNREAL,
    WHEREAS,
    WITH_OTHER,
)


class Stance(Enum):
    """What the clause around a thing says of it."""

    SET_ASIDE = "set aside"
    SETTLED = "settled on"
    PLAIN = "named"


_ITEM = lazy_pattern(r"[)\]*_]{0,4}\s?[:：]\s?")
"""'A: wrong.' says something of A."""
MAX_CLAUSE = 200
SEMICOLON = lazy_pattern(r";\s")


def stance_towards(text: str, start: int, end: int, floor: int = 0, ceiling: int | None = None) -> Stance:
    """What is said of the thing here; the floor and the ceiling are where other things that are named end and begin."""
    ceiling = len(text) if ceiling is None else ceiling
    floor, ceiling = max(floor, start - MAX_CLAUSE), min(ceiling, end + MAX_CLAUSE)
    opening = max((found.end() for found in CLAUSE_END.finditer(text, floor, start)), default=floor)
    item = _ITEM.match(text, end, ceiling)
    closing = CLAUSE_END.search(text, item.end() if item else end, ceiling)
    clause = f"{text[opening:start]} \0 {text[end : closing.start() if closing else ceiling]}"
    clause = AFFIRMATION.sub("", clause)
    sentence = max((found.end() for found in SENTENCE_END.finditer(text, floor, start)), default=floor)
    if SOLE.search(text[sentence:start] + clause):
        return Stance.SETTLED
    if RUNNER_UP.search(clause) or WHEREAS.search(text, max(sentence, opening - 10), start):
        return Stance.SET_ASIDE
    if is_unreal_beside_real(text, opening, closing.start() if closing else ceiling):
        return Stance.SET_ASIDE
    if is_asked(text, end) or OPEN.search(clause) or DISMISSED.search(clause):
        return Stance.SET_ASIDE
    if is_supposed(text, start, end, is_seeming_enough=True) or SUPPOSED.search(clause):
        return Stance.SET_ASIDE
    return Stance.SETTLED if SETTLED.search(text[sentence:start] + clause) else Stance.PLAIN


def is_asked(text: str, end: int) -> bool:
    """Whether a question mark follows, as French writes it or without a space."""
    return text[end : end + 3].lstrip(' \u00a0\u202f)*"')[:1] in ("?", "？")


def is_supposed(text: str, start: int, end: int, *, is_seeming_enough: bool = False) -> bool:
    """Whether a turn such as 'but' follows what others think or was thought before; or what only looks right."""
    turn = TURN.search(text, end, end + MAX_CLAUSE)
    if turn is None or len(SENTENCE_END.findall(text, end, turn.start())) > 1:
        return False
    floor = max(0, start - MAX_CLAUSE)
    opening = max((found.end() for found in SENTENCE_END.finditer(text, floor, start)), default=floor)
    since = max((found.end() for found in TURN.finditer(text, opening, start)), default=opening)
    before, after = text[since:start], text[end : turn.end()]
    if is_seeming_enough and (SEEMING.search(f"{before} {after}") or SUPPOSED.search(after)):
        return True
    if GUESSED.search(after):
        return True
    return SUPPOSED.search(before) is not None or (not after.isascii() and SUPPOSED.search(after) is not None)


def is_unreal_beside_real(text: str, start: int, end: int) -> bool:
    """Whether a clause says what would be, after one that says what is: 'It makes green. Violet one would get …'."""
    if UNREAL.search(text, start, end) is None:
        return False
    opening = max((found.end() for found in SENTENCE_END.finditer(text, 0, start)), default=0)
    return opening > 0 and UNREAL.search(text, 0, opening) is None and CONDITION.search(text, start, end) is None


def leaves_open(text: str) -> bool:
    """Whether more than one thing is called possible: 'Maybe 12, maybe 15', 'by size A; by age B'."""
    return len(MAYBE.findall(text)) > 1 or len(DEPENDS.findall(text)) > 1 or CANDIDATES.search(text) is not None


def is_hypothetical(text: str, start: int, end: int) -> bool:
    """Whether something would be so in another case: 'It would be 17 if …, but …', 'With her it would be 17'."""
    floor = max(0, start - MAX_CLAUSE)
    if UNREAL.search(text, floor, end + MAX_CLAUSE) is None:
        return False
    opening = max((found.end() for found in SENTENCE_END.finditer(text, floor, start)), default=floor)
    if opening and WITH_OTHER.match(text, opening) and UNREAL.search(text, opening, start):
        return True
    turn = TURN.search(text, end, end + MAX_CLAUSE) or SEMICOLON.search(text, end, end + MAX_CLAUSE)
    if turn is None or SENTENCE_END.search(text, end, turn.start()):
        return False
    return (
        UNREAL.search(text, opening, turn.start()) is not None
        and CONDITION.search(text, opening, turn.start()) is not None
    )
