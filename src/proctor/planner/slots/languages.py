"""Languages that are said together: `any Asian language you have`, `the languages of India`, `lang=te`."""

from __future__ import annotations

import re
from itertools import pairwise

from msgspec.structs import replace

from proctor.planner.catalogue import CatalogueBenchmark, PlannerCatalogue
from proctor.planner.languages import LANGUAGES_OF
from proctor.planner.phrases import Phrases
from proctor.planner.reading import Reading, Unsupported
from proctor.planner.slots.vary import JOINS

_REGIONS = {"Asia": "asia", "Europe": "europe", "Africa": "africa"}


def merge_language_groups(phrases: Phrases) -> None:
    """`African and Indian languages`: a part of the world that shares its noun with the next one, or that is listed."""
    for at in range(len(phrases.items) - 1, 1, -1):
        first, link = phrases.items[at - 2], phrases.words(at - 1).lower()
        region = _REGIONS.get(first.value) if first.kind == "category" else None
        if phrases.items[at].kind == "languagegroup" and region is not None and link in {*JOINS, ","}:
            phrases.items[at - 2] = replace(first, meanings=(("languagegroup", region),))
    for at, (item, behind) in enumerate(pairwise(phrases.items)):  # `the two Asian languages Thai and Telugu`
        between = phrases.text[item.end : behind.start].strip()
        if item.kind == "languagegroup" and behind.kind == "language" and not between:
            phrases.items[at] = replace(item, meanings=(("filler", ""),))


_WRITING = re.compile(
    r"(?:\b(?:i|we)(?:'m| am| are)? (?:write|writing|speak|speaking|ask|asking)(?: this| you)?(?: in)?"
    r"|\bich (?:schreibe|spreche|frage)(?: das| hier)?(?: auf| in)?|\b(?:escribo|hablo|pregunto)(?: esto)?(?: en)?"
    r"|\b(?:j'écris|je parle|je demande)(?: ceci)?(?: en)?|我(?:是)?(?:用|说|讲)) ?$"
)
_WRITTEN = re.compile(r"(?:로|으로) (?:묻|물어|쓰|적)|で(?:聞い|書い|質問し)て(?:い|る)|(?:问|提问|写)(?:的|,|，)")


def drop_own_languages(phrases: Phrases) -> None:
    """`I write in English, but …`: the language of the query is no language of what is asked."""
    for at, item in enumerate(phrases.items):
        before, behind = phrases.text[: item.start].lower(), phrases.text[item.end :]
        is_own = _WRITING.search(before) or _WRITTEN.match(behind)
        if item.kind == "language" and is_own and any(other.kind == "language" for other in phrases.items[at + 1 :]):
            phrases.items[at] = replace(item, meanings=(("unknown", ""),))


def read_language_groups(reading: Reading, catalogue: PlannerCatalogue, excluded: set[int]) -> None:
    """Set the languages of a part of the world, of those that the benchmarks that are meant have."""
    phrases = reading.phrases
    for at in list(phrases.free("languagegroup")):
        group = LANGUAGES_OF[phrases.items[at].value]
        if at in excluded:
            reading.excluded_languages += sorted(group - set(reading.excluded_languages))
            phrases.take("tags.language.except", phrases.items[at].value, at)
            continue
        there = {name for item in _meant(reading, catalogue) for name in (item.tags.get("language"), *item.languages)}
        languages = sorted((group & there) - set(reading.excluded_languages))
        if not languages:
            phrases.use(at)
            why = "no benchmark here that fits is in one of these languages"
            reading.unsupported.append(Unsupported(phrases.words(at), why))
            continue
        phrases.use(at)
        for language in languages:
            if language not in reading.languages:
                reading.languages.append(language)
                phrases.take("tags.language", language, at)


def _meant(reading: Reading, catalogue: PlannerCatalogue) -> list[CatalogueBenchmark]:
    """The benchmarks that are named, else those about what is named, else all."""
    named = {name.removeprefix("?") for name, _ in reading.benchmarks}
    fitting = [item for item in catalogue.benchmarks if item.name in named]
    fitting = fitting or [item for item in catalogue.benchmarks if item.tags.get("subject") in reading.subjects]
    return fitting or list(catalogue.benchmarks)
