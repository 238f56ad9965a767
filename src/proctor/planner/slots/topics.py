"""Benchmarks by name, and what they should be about: languages, subjects, forms, categories."""

from __future__ import annotations

import re
from collections.abc import Mapping

from proctor.planner.catalogue import PlannerCatalogue
from proctor.planner.names import squash
from proctor.planner.reading import Reading
from proctor.planner.slots.vary import JOINS

TOPICS = ("benchmark", "bench", "softname", "benches", "language", "subject", "group", "category", "form")
GROUPS: Mapping[str, tuple[str, str]] = {
    "medicine": (
        "medicine",
        r"anatomy|clinical_.*|college_medicine|medical_.*|nutrition|professional_medicine|virology",
    ),
    "law": ("law", r"international_law|jurisprudence|professional_law"),
    "history": ("history", r".*history|prehistory"),
    "economics": ("economics", r"econometrics|.*economics"),
    "physics": ("science", r".*physics"),
    "chemistry": ("science", r".*chemistry"),
    "biology": ("science", r".*biology"),
    "psychology": ("social-science", r".*psychology"),
    "computer-science": ("programming", r".*computer_science"),
    "geography": ("geography", r".*geography"),
    "politics": ("social-science", r".*politics|us_foreign_policy"),
    "philosophy": ("humanities", r"philosophy"),
    "statistics": ("mathematics", r".*statistics"),
    "accounting": ("economics", r".*accounting"),
    "religion": ("humanities", r".*religions"),
    "ethics": ("humanities", r"business_ethics|moral_.*"),
}
"""Fields that are categories of broader benchmarks: the subject each belongs to, and which categories."""

MATHEMATICAL = frozenset({"Algebra", "Counting & Probability", "Geometry", "Intermediate Algebra", "Number Theory",
                          "Prealgebra", "Precalculus"})  # fmt: skip


def read_topics(reading: Reading, catalogue: PlannerCatalogue) -> None:
    """Set what is named and what is left out."""
    _read_categories(reading, catalogue)
    _read_levels(reading)
    phrases = reading.phrases
    excluded: set[int] = set()
    for at in list(phrases.free("except")):
        if at in phrases.used or phrases.text[phrases.items[at].start : phrases.items[at].end].lower() == "no":
            follows = phrases.after(at, most=2)
            if not phrases.is_kind(follows, "language", "category"):
                continue
        excluded |= _listed(reading, phrases.after(at, most=2), 1)
        if phrases.after(at, most=2) in excluded:
            phrases.use(at)
    for at in list(phrases.free("suffixexcept")):
        last = phrases.before(at, most=2)
        excluded |= _listed(reading, last, -1)
        if last in excluded:
            phrases.use(at)
    for at in list(phrases.free(*TOPICS)):
        _set_topic(reading, catalogue, at, is_excluded=at in excluded)


def _listed(reading: Reading, at: int | None, step: int) -> set[int]:
    """Topics that follow one another, joined by `and`."""
    phrases, found = reading.phrases, set[int]()
    while at is not None and phrases.is_kind(at, *TOPICS):
        found.add(at)
        link = at + step
        kind, at = phrases.items[at].kind, None
        if not 0 <= link + step < len(phrases.items):
            break
        is_list = phrases.items[link].value in (",", "、") and kind not in ("benchmark", "bench")
        if phrases.words(link).lower() in JOINS or (is_list and phrases.items[link + step].kind == kind):
            at = link + step
    return found


def _set_topic(reading: Reading, catalogue: PlannerCatalogue, at: int, *, is_excluded: bool) -> None:
    phrases = reading.phrases
    for kind, value in phrases.items[at].meanings:
        if kind in ("benchmark", "bench", "softname"):
            if is_excluded:
                reading.excluded_benchmarks.append(value)
                phrases.take("benchmarks.except", value, at)
            elif catalogue.benchmark(value) is not None:
                phrases.use(at)
                reading.benchmarks.append((value if kind != "softname" else f"?{value}", at))
        elif kind == "benches":
            for item in catalogue.benchmarks:
                if item.tags.get("language") == "ko":
                    reading.benchmarks.append((item.name, at))
            phrases.take("benchmarks", [name for name, place in reading.benchmarks if place == at], at)
        elif kind == "form":
            reading.form = value
            phrases.take("tags.form", value, at)
        else:
            name = {"category": "categories"}.get(kind, f"{kind}s")
            target: list[str] = getattr(reading, f"excluded_{name}" if is_excluded else name)
            if value not in target:
                target.append(value)
            label = {"language": "tags.language", "subject": "tags.subject"}.get(kind, "where.category")
            phrases.take(f"{label}.except" if is_excluded else label, value, at)


def _read_categories(reading: Reading, catalogue: PlannerCatalogue) -> None:
    """Categories by their own names: `abstract algebra`, `high school physics`."""
    phrases, tokens = reading.phrases, reading.phrases.tokens
    named = {item.value for item in phrases.items if item.kind in ("benchmark", "bench")}
    broad = ("mmlu", "jmmlu", "math")
    # Elsewhere `data` and `reasoning` are words like any other.
    having = [item for item in catalogue.benchmarks if item.name in broad or item.name in named]
    having.sort(key=lambda item: item.name not in broad, reverse=True)
    known = {squash(name): name for item in having for name in item.categories if len(name) > 2}
    # Where a benchmark is named, a word that is also a subject is first one of its own categories.
    own = {squash(name) for item in having if item.name not in broad for name in item.categories}
    at = 0
    while at < len(phrases.items):
        best, joined = None, ""
        for last in range(at, min(at + 5, len(phrases.items))):
            item = phrases.items[last]
            if last in phrases.used or item.kind in ("stop", "number", "model", "benchmark"):
                break
            joined += squash("".join(token.text for token in tokens[item.first : item.last + 1]))
            if joined in known and (
                last > at or item.kind in ("unknown", "category") or _is_own(item.kind, joined, own)
            ):
                best = (last, known[joined])
        if best is not None:
            reading.categories.append(best[1])
            phrases.take("where.category", best[1], *range(at, best[0] + 1))
            at = best[0]
        at += 1


def _is_own(kind: str, word: str, own: set[str]) -> bool:
    """Whether a word that means something of its own is here a category of a benchmark that is named."""
    return word in own and kind in ("group", "subject")


def _read_levels(reading: Reading) -> None:
    """`level 5`, `levels 3 to 5`."""
    phrases = reading.phrases
    for at in list(phrases.free("level")):
        first = phrases.after(at, most=1)
        if not phrases.is_kind(first, "number"):
            continue
        low, places = phrases.items[first].number, [at, first]
        second = phrases.after(first, most=1)
        is_range = phrases.is_kind(second, "number") and _is_range(phrases.text, phrases, first, second)
        high = phrases.items[second].number if is_range and second else low
        reading.levels = f"{low}" if high == low else f"{low}-{high}"
        phrases.take("level", reading.levels, *places, *([second] if is_range and second else []))


def _is_range(text: str, phrases: object, first: int, second: int) -> bool:
    items = phrases.items  # type: ignore[attr-defined]
    between = text[items[first].end : items[second].start].strip().lower()
    return bool(re.fullmatch(r"-|to|bis|a|à|until|through|–|~|から", between))


def subjects_meant(reading: Reading) -> list[str]:
    """The subjects that are named, and those of fields and categories that are."""
    of_groups = [GROUPS[name][0] for name in reading.groups]
    of_categories = ["mathematics" for name in reading.categories if name in MATHEMATICAL]
    return sorted({*reading.subjects, *of_groups, *of_categories})
