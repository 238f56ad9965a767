"""What words that changed nothing may have meant: a category that is nearly called so, or a language."""

from __future__ import annotations

import re

from proctor.planner.catalogue import PlannerCatalogue
from proctor.planner.choice import Chosen
from proctor.planner.phrases import Phrases

SHORTEST = 4
SHOWN = 3
_IN = re.compile(r"\b(?:in|auf|en)\s+$", re.IGNORECASE)
_SUFFIX = re.compile(r".+(?:語|语|어)$")
_TOPICS = ("benchmark", "bench", "softname", "subject", "group", "sample")


def suggestions(phrases: Phrases, unread: list[str], chosen: list[Chosen], catalogue: PlannerCatalogue) -> list[str]:
    """A sentence for each word that stands where a category or a language would, and is none here."""
    told = []
    for at, item in enumerate(phrases.items):
        word = phrases.text[item.start : item.end]
        if item.kind != "unknown" or at in phrases.used or not any(word in part for part in unread):
            continue
        if _is_language(phrases, at, word):
            told.append(f"{word!r} is no language that is known here.")
        elif len(word) >= SHORTEST and (near := _near(word, chosen, catalogue)):
            told.append(f"{word!r} is no category of {near[0]}; the nearest: {', '.join(near[1])}.")
    return told


def _is_language(phrases: Phrases, at: int, word: str) -> bool:
    """`maths in Elvish`, `エルフ語の数学`: whether a word stands where a language stands."""
    if _SUFFIX.fullmatch(word):
        return True
    item, before = phrases.items[at], phrases.items[at - 2 : at - 1]
    ends = at + 1 == len(phrases.items) or phrases.items[at + 1].kind == "stop"
    is_behind = bool(_IN.search(phrases.text[: item.start])) and any(one.kind in _TOPICS for one in before)
    return is_behind and ends and word[0].isupper()


def _near(word: str, chosen: list[Chosen], catalogue: PlannerCatalogue) -> tuple[str, list[str]] | None:
    from difflib import get_close_matches  # only for an unknown word, and not free to import

    for item in chosen:
        benchmark = catalogue.benchmark(item.benchmark)
        plain = {name.lower().replace("_", " "): name for name in benchmark.categories} if benchmark else {}
        if near := get_close_matches(word.lower(), plain, SHOWN, 0.7):
            return item.benchmark, [plain[name] for name in near]
    return None
