"""Models as they are named: one after another, whose they are, and which one a family means."""

from __future__ import annotations

import re

from proctor.planner.catalogue import FAMILIES, PlannerCatalogue
from proctor.planner.phrases import Phrase, Phrases
from proctor.planner.reading import Reading, Unsupported
from proctor.planner.slots.lines import NAMED
from proctor.planner.slots.vary import JOINS


def chain(phrases: Phrases, at: int | None, step: int) -> list[int]:
    """Models that follow one another, joined by `and`; behind a word for judges also by commas before an `and`."""
    found: list[int] = []
    commas: list[int] = []
    while at is not None and phrases.is_kind(at, *NAMED) and at not in phrases.used:
        found.append(at)
        link, is_comma = at + step, False
        while 0 <= link < len(phrases.items) and phrases.items[link].value in (",", "、"):
            link, is_comma = link + step, True
        is_join = 0 <= link < len(phrases.items) and phrases.words(link).lower() in JOINS
        is_particle = 0 <= link < len(phrases.items) and phrases.text[phrases.items[link].start] >= "\u3000"
        is_filler = is_particle and phrases.items[link].kind == "filler" and not is_comma
        if is_comma and not is_join:
            commas.append(len(found))
        at = link + step if is_join or is_filler else link if is_comma else None
        at = at if at is not None and 0 <= at < len(phrases.items) else None
    is_listed = len(found) > 1 and commas and commas[-1] < len(found) - 1
    return found if is_listed or not commas else found[: commas[0]]


def house_of(item: Phrase) -> str:
    """Whose a model or a family is."""
    return item.value.partition("/")[0] if item.kind == "model" else FAMILIES[item.value][0]


_WHICH = re.compile(
    r"\b(?:which|what|welches|welcher|welche|qué|cuál|quel|quelle)\s+(?:\w+\s+)?$|(?:どの|어느|어떤|哪个|哪款)\s*$"
)


def asks_which(phrases: Phrases, provider: int) -> bool:
    """`which openai model is best? try mini and nano`: the provider asks which, and is no model of its own."""
    return bool(_WHICH.search(phrases.text[: phrases.items[provider].start].lower()))


def resolved(reading: Reading, catalogue: PlannerCatalogue, at: int) -> str | None:
    """The model that a name or a family means; why, where that was a choice."""
    item = reading.phrases.items[at]
    if item.kind == "model":
        if item.means("unlisted") is not None:
            reading.unlisted.append(item.value)
        return item.value
    family = item.value
    if item.kind == "provider":
        name, told = catalogue.flagship(family), f"general model of {family}"
    else:
        name, told = catalogue.family(family), family
    if name is None:
        reading.unsupported.append(
            Unsupported(reading.phrases.words(at), "no model of this name is in a list here; write it as provider/name")
        )
        reading.phrases.use(at)
        return None
    reading.model_notes.append((name, f"the newest {told} in the price list"))
    return name
