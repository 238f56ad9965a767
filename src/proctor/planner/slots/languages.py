"""Languages that are said together: `any Asian language you have`, `the languages of India`, `lang=te`."""

from __future__ import annotations

from msgspec.structs import replace

from proctor.planner.catalogue import CatalogueBenchmark, PlannerCatalogue
from proctor.planner.languages import LANGUAGES_OF
from proctor.planner.phrases import Phrases
from proctor.planner.reading import Reading, Unsupported
from proctor.planner.slots.vary import JOINS

_REGIONS = {"Asia": "asia", "Europe": "europe", "Africa": "africa"}


def merge_language_groups(phrases: Phrases) -> None:
    """`African and Indian languages`: a part of the world that shares its noun with the next one."""
    for at in range(len(phrases.items) - 1, 1, -1):
        first, link = phrases.items[at - 2], phrases.words(at - 1).lower()
        region = _REGIONS.get(first.value) if first.kind == "category" else None
        if phrases.items[at].kind == "languagegroup" and region is not None and link in {*JOINS, ","}:
            phrases.items[at - 2] = replace(first, meanings=(("languagegroup", region),))


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
