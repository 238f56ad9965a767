"""Models that are named by what belongs together: the demo models, versions of a family, all of a provider."""

from __future__ import annotations

import re
from itertools import pairwise

from msgspec.structs import replace

from proctor.planner.catalogue import DEMO, PlannerCatalogue
from proctor.planner.phrases import Phrases
from proctor.planner.reading import Reading, Unsupported
from proctor.planner.slots.vary import JOINS
from proctor.planner.slots.versions import EVERY, SAYS_SO, several_versions

NAMED = ("model", "family")
_TIERS = {"strong": "large", "weak": "small"}


def merge_demo(reading: Reading) -> None:
    """`demo strong and weak`, `strong vs weak`: the names of the demo models, where these are what is named."""
    phrases = reading.phrases
    words = {at: phrases.words(at).lower() for at in range(len(phrases.items))}
    for at in [place for place, word in words.items() if word in _TIERS]:  # `a strong model and a weak model`
        if phrases.is_kind(phrases.after(at, most=0), "modelword"):
            phrases.items[at] = replace(phrases.items[at], meanings=(("tier", _TIERS[words.pop(at)]),))
    named = [at for at, word in words.items() if word in DEMO]
    demos = [at for at, item in enumerate(phrases.items) if item.kind == "demo"]
    if not demos and not _are_joined(phrases, named):
        return
    for at in named:
        phrases.items[at] = replace(phrases.items[at], meanings=(("model", f"demo/{words[at]}"),))
        reading.model_notes.append((f"demo/{words[at]}", f"{words[at]!r} is the name of a demo model"))
    if named:
        phrases.use(*demos)
        return
    for at in demos:
        behind = phrases.after(at, most=1)
        is_one = re.match(r"\s+(?:model|modell|modelo|modèle)\b", phrases.text[phrases.items[at].end :].lower())
        names = DEMO[:1] if is_one else DEMO[:2]
        meanings = (("model", f"demo/{names[0]}"), *(("also", f"demo/{name}") for name in names[1:]))
        phrases.items[at] = replace(phrases.items[at], meanings=meanings)
        reading.model_notes += [(f"demo/{name}", "a demo model; no name of one is said") for name in names]
        phrases.use(*([behind] if phrases.is_kind(behind, "modelword") else []))


def _are_joined(phrases: Phrases, named: list[int]) -> bool:
    """`strong vs weak`, with no word for models behind and no other model beside them."""
    if len({phrases.words(at).lower() for at in named}) < 2 or any(item.kind in NAMED for item in phrases.items):
        return False
    for first, second in pairwise(named):
        between = phrases.text[phrases.items[first].end : phrases.items[second].start].strip().lower()
        is_link = between in JOINS or between in (",", "vs", "vs.", "v", "versus", "against", "better than", "beat")
        if not is_link or phrases.is_kind(phrases.after(second, most=0), "modelword", "provider"):
            return False
    return True


_VERSIONS = re.compile(
    r"\s*(?:latest |newest |neuesten |letzten )?(?:个|つの|개(?:의)?|가지)?\s*"
    r"(?:versions?|versionen|versiones|版本|バージョン|버전)",
    re.IGNORECASE,
)


def of_several(reading: Reading, catalogue: PlannerCatalogue, at: int) -> list[tuple[int, str, list[int]]]:
    """`every opus`, `opus 4.x`, `the gpt-5.4 family`, `everything from anthropic`."""
    phrases = reading.phrases
    if phrases.items[at].kind == "provider":
        begins = phrases.text[: phrases.items[at].start].lower()
        is_whole = re.search(r"\b(?:everything|alles|todo|tout)\s+(?:from|by|of|von|de|d')\s*$", begins)
        names = catalogue.lines(phrases.items[at].value) if is_whole else []
        why, places = f"the newest of a line of {phrases.items[at].value}", [at]
    else:
        names, why, places = several_versions(phrases, catalogue, at)
    reading.model_notes += [(name, why) for name in names]
    if names:  # `versions`, `family`, `以降` right behind say the same
        behind = [place for place in range(at + 1, min(at + 4, len(phrases.items))) if place not in phrases.used]
        said = [place for place in behind if SAYS_SO.fullmatch(phrases.words(place).lower())]
        phrases.use(*places, *said[:1])
    return [(at, name, places) for name in names]


def of_versions(reading: Reading, catalogue: PlannerCatalogue, at: int) -> list[tuple[int, str, list[int]]]:
    """`three versions of fable`, `fable三个版本`: so many of the newest versions of a family."""
    phrases = reading.phrases
    item = phrases.items[at]
    for step in (-1, 1):
        number = next(
            (place for place in (at + step, at + 2 * step, at + 3 * step) if 0 <= place < len(phrases.items)
             and phrases.items[place].number is not None and place not in phrases.used), None,
        )  # fmt: skip
        count = phrases.items[number].number if number is not None else None
        if item.kind != "family" or number is None or not isinstance(count, int) or not 1 < count <= 20:
            continue
        if _VERSIONS.match(phrases.text[phrases.items[number].end :]):
            names = catalogue.generations(item.value)[:count]
            reading.model_notes += [(name, f"one of the newest versions of {item.value}") for name in names]
            if len(names) < count:
                told = f"only {len(names)} versions of {item.value} are known here"
                reading.unsupported.append(Unsupported(phrases.words(number), told))
            phrases.use(at, number)
            return [(at, name, sorted((at, number))) for name in names]
    return []


def of_lines(reading: Reading, catalogue: PlannerCatalogue, at: int) -> list[tuple[int, str, list[int]]]:
    """`all anthropic models`, `two openai models`: the newest of each line of a provider, or so many of them."""
    phrases = reading.phrases
    word, before = phrases.after(at, most=0), at - 1
    if phrases.items[at].kind != "provider" or before < 0 or before in phrases.used:
        return []
    is_every = phrases.words(before).lower() in EVERY
    count = phrases.items[before].number
    if not phrases.is_kind(word, "modelword") or not (is_every or (isinstance(count, int) and 1 < count <= 20)):
        return []
    lines = catalogue.lines(phrases.items[at].value)
    names = lines if is_every else lines[: int(count or 0)]
    why = f"the newest of each line of {phrases.items[at].value} in the price list"
    reading.model_notes += [(name, why) for name in names]
    places = [before, at, word]
    phrases.use(*places)
    return [(at, name, places) for name in names]
