"""Models that judge: behind `judged by`, within `a panel of`, or before `grades them`."""

from __future__ import annotations

import re

from proctor.planner.catalogue import PlannerCatalogue
from proctor.planner.phrases import Phrases
from proctor.planner.reading import Reading
from proctor.planner.slots.lines import NAMED
from proctor.planner.slots.naming import chain, resolved

FARTHEST_VERB = 12
"""How many phrases may stand between who judges and the verb at the end of a clause."""


def read_judges(reading: Reading, catalogue: PlannerCatalogue) -> None:
    """Models named as judges: behind `judged by` or `judge is`, within `a panel of`, or before `grades them`."""
    phrases = reading.phrases
    for at in [*phrases.free("panel"), *phrases.free("judge"), *phrases.free("judgeverb")]:
        if at in phrases.used:
            continue
        chain = _judges_at(phrases, at)
        if not chain:
            continue
        for place in chain:
            name = resolved(reading, catalogue, place)
            if name is not None and name not in reading.judge:
                reading.judge.append(name)
        # `should judge` behind the names, and `a panel` before them, say the same once more.
        again = [place for place in phrases.free("judge", "judgeverb", "panel") if -2 <= place - chain[-1] <= 3]
        phrases.take("judge", list(reading.judge), *sorted({at, *chain, *again}))


def _judges_at(phrases: Phrases, at: int) -> list[int]:
    kind = phrases.items[at].kind
    is_colon = at + 1 < len(phrases.items) and phrases.items[at + 1].value in (":", "(")
    behind = chain(phrases, phrases.after(at + is_colon, over="judge", most=4), 1)
    ahead = chain(phrases, phrases.before(at, most=2), -1)
    if kind == "panel":
        return behind
    follows = phrases.text[phrases.items[at].end :]
    if kind == "judgeverb" and not ahead and (told := _told_to(phrases, at)):
        return told
    if kind == "judgeverb" and not ahead:  # `grade haiku on gsm8k` names what is measured
        return behind if re.match(r"\s*(?:is|:|by|with|using|von|mit|por|con|par|avec)", follows) else []
    if ahead and (kind == "judgeverb" or _is_made_to(phrases, min(ahead))):
        return behind if behind and re.match(r"\s*(?:by|using|von|por|par)\b", follows) else ahead
    return behind or ahead


def _is_made_to(phrases: Phrases, first: int) -> bool:
    """`let opus judge`, `have gpt-5 as judge`: who judges stands before the word."""
    begins = phrases.text[: phrases.items[first].start].rstrip().lower()
    return bool(re.search(r"\b(?:let|have|make|get|ask|lass|lasse|laisse|deja)$", begins))


def _told_to(phrases: Phrases, verb: int) -> list[int]:
    """`lass Opus die Antworten von Haiku bewerten`: who judges stands behind `lass`, far from the verb."""
    for at in range(verb - 1, max(-1, verb - FARTHEST_VERB), -1):
        if phrases.items[at].value in (".", ";", ","):
            return []
        if phrases.is_kind(at, *NAMED) and at not in phrases.used and _is_made_to(phrases, at):
            return chain(phrases, at, 1)
    return []
