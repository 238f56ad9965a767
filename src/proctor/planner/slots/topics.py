"""Benchmarks by name, and what they should be about: languages, subjects, forms, categories."""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec.structs import replace

from proctor.planner.catalogue import PlannerCatalogue
from proctor.planner.names import squash
from proctor.planner.phrases import Phrases
from proctor.planner.reading import Reading
from proctor.planner.slots.languages import read_language_groups
from proctor.planner.slots.vary import JOINS

TOPICS = (
    "benchmark",
    "bench",
    "softname",
    "benches",
    "language",
    "languagegroup",
    "subject",
    "group",
    "category",
    "form",
)
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
    "humanities": (
        "humanities",
        r"formal_logic|.*history|prehistory|jurisprudence|.*law|logical_fallacies|moral_.*|philosophy|world_religions",
    ),
    "social-sciences": (
        "social-science",
        r"econometrics|.*(?:economics|geography|politics|psychology)|human_sex.*|public_rel.*|security.*|sociology|us_.*cy",
    ),
    "mathematical": ("mathematics", r"abstract_algebra|.*mathematics|high_school_statistics"),
    "ethics": ("humanities", r"business_ethics|moral_.*"),
}
"""Fields that are categories of broader benchmarks: the subject each belongs to, and which categories."""

MATHEMATICAL = frozenset({"Algebra", "Counting & Probability", "Geometry", "Intermediate Algebra", "Number Theory",
                          "Prealgebra", "Precalculus"})  # fmt: skip


def read_topics(reading: Reading, catalogue: PlannerCatalogue) -> None:
    """Set what is named and what is left out."""
    _read_levels(reading)
    phrases = reading.phrases
    excluded: set[int] = set()
    for at in list(phrases.free("except")):
        if at not in phrases.used:
            listed = _listed(reading, _next_topic(reading, at, 1), 1)
            if not listed and phrases.items[at].means("either") is not None:  # `Deutsch ausgenommen`
                before = _next_topic(reading, at, -1)
                listed = set() if before is None else _joined_before(phrases, before)
            excluded |= listed
            closing = phrases.after(max(listed), most=1) if listed else None  # `除了日语以外`
            closing = closing if phrases.is_kind(closing, "suffixexcept") else None
            phrases.use(*([at] if listed else []), *([] if closing is None else [closing]))
    for at in list(phrases.free("suffixexcept")):
        listed = _listed(reading, _next_topic(reading, at, -1), -1)
        excluded |= listed
        phrases.use(*([at] if listed else []))
    for at in list(phrases.free("filler")):
        excluded |= _separated(reading, at)
    for at in list(phrases.free(*TOPICS)):
        excluded |= _refused(phrases, at)
        excluded |= _listed(reading, at, 1) if _negated(phrases, at) else set()
    for at in list(phrases.free(*TOPICS)):
        if phrases.items[at].kind != "languagegroup":
            _set_topic(reading, catalogue, at, is_excluded=at in excluded)
    read_language_groups(reading, catalogue, excluded)
    phrases.use(*(at for at in phrases.free("unknown") if phrases.words(at) in _DOTS))


_ITS_NOUN = r"(?:(?:bitte|ones?|parts?|questions|teile?|aufgaben) )?"


def _separated(reading: Reading, at: int) -> set[int]:
    """`lass Deutsch weg`, `leave German out`: a verb leaves out only where its particle closes the clause."""
    phrases = reading.phrases
    particles = phrases.items[at].means("separable")
    first = _next_topic(reading, at, 1) if particles else None
    listed = _listed(reading, first, 1) if first is not None else set()
    if not listed or particles is None:
        return set()
    behind = phrases.text[phrases.items[max(listed)].end :].lower()
    return (
        listed
        if re.match(
            rf"\s+{_ITS_NOUN}(?:{particles})\s*(?:$|[,.;:!?)]|(?:und|and|y|et|of|from|bei)\b)",
            behind,
        )
        else set()
    )


def _refused(phrases: Phrases, at: int) -> set[int]:
    """`chemistry yes, physics no`: a refusal right behind what it refuses, at the end of the clause."""
    no, ends = at + 1, at + 2
    is_no = no < len(phrases.items) and phrases.words(no).lower() in _NO
    if not is_no or (ends < len(phrases.items) and phrases.items[ends].kind != "stop"):
        return set()
    phrases.use(no)
    return _joined_before(phrases, at)


def _joined_before(phrases: Phrases, at: int) -> set[int]:
    """This topic, and those before it that `and` joins to it; behind an `and` also by commas."""
    found = {at} if phrases.is_kind(at, *TOPICS) and at not in phrases.used else set()
    links = {*JOINS, "、"}
    while found and at > 1 and phrases.words(at - 1).lower() in links and phrases.is_kind(at - 2, *TOPICS):
        if phrases.is_kind(at, "language") and not phrases.is_kind(at - 2, "language"):
            break  # `mgsm und Deutsch weglassen`
        at, links = at - 2, links | {","}
        found.add(at)
    return found


_DOTS = ("・", "·")
"""`中国語・日本語を除く`: dots that list as commas do."""
_NO = ("no", "not", "nein", "nicht", "non", "pas", "不要", "いらない")


def _negated(phrases: Phrases, at: int) -> bool:
    """`mgsm, no alemán`: a negation right before a language."""
    is_no = at > 0 and phrases.words(at - 1).lower() in _NO and phrases.items[at - 1].kind == "filler"
    return is_no and phrases.items[at].kind == "language"


def merge_fields(phrases: Phrases) -> None:
    """`mmlu math`: a subject right behind a broad benchmark is those of its categories."""
    for at, item in enumerate(phrases.items[:-1]):
        behind = phrases.items[at + 1]
        is_broad = item.kind == "benchmark" and item.value in ("mmlu", "jmmlu")
        if is_broad and behind.means("subject") == "mathematics" and behind.kind in ("softname", "subject"):
            phrases.items[at + 1] = replace(behind, meanings=(("group", "mathematical"),))


def _next_topic(reading: Reading, at: int, step: int) -> int | None:
    """The topic beside a word that leaves it out, over articles and the like."""
    phrases = reading.phrases
    beside = (phrases.after if step > 0 else phrases.before)(at, over="only", most=3)
    while phrases.is_kind(beside, "except", "suffixexcept", "sample", "modelword") and beside != at:
        beside = (phrases.after if step > 0 else phrases.before)(beside, most=2)
    return beside


def _listed(reading: Reading, at: int | None, step: int) -> set[int]:
    """Topics that follow one another, joined by `and`, or by commas where they are of one kind."""
    phrases, found = reading.phrases, set[int]()
    while at is not None and phrases.is_kind(at, *TOPICS) and at not in phrases.used:
        found.add(at)
        link, joins, commas = at + step, 0, 0
        while 0 <= link < len(phrases.items) and abs(link - at) <= 4 and _may_link(phrases, link):
            is_comma = phrases.items[link].value in (",", "、") or phrases.words(link) in _DOTS
            if (phrases.items[link].kind == "stop" and not is_comma) or _closes(phrases, link, step):
                return found
            is_join = phrases.words(link).lower() in JOINS or phrases.items[link].kind.endswith("except")
            joins, commas, link = joins + is_join, commas + is_comma, link + step
        if not 0 <= link < len(phrases.items) or not phrases.is_kind(link, *TOPICS):
            break
        is_named = phrases.is_kind(at, "benchmark", "bench") or phrases.is_kind(link, "benchmark", "bench")
        is_alike = _family_of(phrases.items[link].kind) == _family_of(phrases.items[at].kind)
        is_apart = is_named and phrases.is_kind(at, "language") != phrases.is_kind(link, "language")
        at = (
            link
            if (joins and (is_alike or not (commas or is_apart))) or (commas and is_alike and not is_named)
            else None
        )
    return found


def _may_link(phrases: Phrases, at: int) -> bool:
    item = phrases.items[at]
    return item.kind in ("filler", "stop", "compare", "sample", "except", "suffixexcept") or phrases.words(at) in _DOTS


def _closes(phrases: Phrases, link: int, step: int) -> bool:
    """`除亚洲语言外的mgsm`: what stands behind the end of what is left out is not left out."""
    return step > 0 and phrases.is_kind(link, "suffixexcept")


def _family_of(kind: str) -> str:
    return "topic" if kind in ("subject", "group", "category") else "named" if kind in ("benchmark", "bench") else kind


_BOTH_BEFORE = re.compile(
    r"(?:\b(?:all|both|all of|every|alle[nr]?|sämtliche[nr]?|beide[nr]?|ambos|ambas|todos|todas|tous|toutes)"
    r"(?: the| de[rns]| los| las| les)?(?: two| three| zwei| drei| dos| tres| deux| trois)?"
    r"|\b(?:the|die|los|las|les) (?:two|three|zwei|drei|dos|tres|deux|trois)"
    r"|모든|すべての|全ての|全|所有|全部)\s*$"
)
_BOTH_BEHIND = re.compile(
    r"\s*(?:[(,]\s*)?(?:both|all\b|beide|alle\b|ambos|todos|tous|전부|모두|둘 다|両方|全部|すべて|全て|两个|三个|都|全)"
)


def _whole_family(phrases: Phrases, catalogue: PlannerCatalogue, at: int) -> list[str]:
    """`all three bfcl sets`, `both arc`: every benchmark whose name begins with the word that is written."""
    item = phrases.items[at]
    written = phrases.text[item.start : item.end].lower()
    before, behind = phrases.text[: item.start].lower(), phrases.text[item.end :].lower()
    if not (_BOTH_BEFORE.search(before) or _BOTH_BEHIND.match(behind)):
        return []
    names = [one.name for one in catalogue.benchmarks if one.name.partition("-")[0] == written]
    return names if len(names) > 1 else []


def _set_topic(reading: Reading, catalogue: PlannerCatalogue, at: int, *, is_excluded: bool) -> None:
    phrases = reading.phrases
    for kind, value in phrases.items[at].meanings:
        if kind in ("benchmark", "bench", "softname"):
            if is_excluded:
                reading.excluded_benchmarks.append(value)
                phrases.take("benchmarks.except", value, at)
            elif kind == "bench" and (family := _whole_family(phrases, catalogue, at)):
                reading.benchmarks += [(name, at) for name in family]
                phrases.take("benchmarks", list(family), at)
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


def name_defaults(phrases: Phrases) -> None:
    """`puzzles and arithmetic`, `without puzzles`: beside another benchmark, or taken out, the word is a benchmark."""
    for at, item in enumerate(phrases.items):
        name = item.means("default")
        if name is None or phrases.words(at).lower() != name:
            continue
        is_changed = at > 0 and phrases.items[at - 1].kind in ("except", "remove", "difference")
        if is_changed or _is_listed(phrases, at, -1) or _is_listed(phrases, at, 1):
            phrases.items[at] = replace(item, meanings=(("bench", name),))


def _is_listed(phrases: Phrases, at: int, step: int) -> bool:
    """Whether a comma or an `and` stands on this side, and a benchmark beyond it."""
    beside, joins = at + step, 0
    while 0 <= beside < len(phrases.items) and (phrases.words(beside) == "," or phrases.words(beside).lower() in JOINS):
        beside, joins = beside + step, joins + 1
    return joins > 0 and 0 <= beside < len(phrases.items) and phrases.is_kind(beside, "benchmark", "bench")


def merge_categories(phrases: Phrases, catalogue: PlannerCatalogue) -> None:
    """Categories by their own names, each as one phrase: `abstract algebra`, `high school physics`."""
    tokens = phrases.tokens
    named = {item.value for item in phrases.items if item.kind in ("benchmark", "bench")}
    is_japanese = "jmmlu" in named or any(item.means("language") == "ja" for item in phrases.items)
    broad = ("mmlu", "jmmlu", "math") if is_japanese else ("mmlu", "math")
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
            if item.kind in ("stop", "number", "model", "benchmark"):
                break
            joined += squash("".join(token.text for token in tokens[item.first : item.last + 1]))
            if joined in known and (
                last > at or item.kind in ("unknown", "category") or _is_own(item.kind, joined, own)
            ):
                best = (last, known[joined])
        if best is not None:
            first, final = phrases.items[at], phrases.items[best[0]]
            meaning = (("category", best[1]),)
            phrases.items[at : best[0] + 1] = [replace(first, meanings=meaning, last=final.last, end=final.end)]
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
        is_range = is_range or (phrases.is_kind(second, "number") and _is_next(phrases, first, second))
        high = phrases.items[second].number if is_range and second else low
        reading.levels = f"{low}" if high == low else f"{low}-{high}"
        phrases.take("level", reading.levels, *places, *([second] if is_range and second else []))


def _is_next(phrases: Phrases, first: int, second: int) -> bool:
    """`levels 4 and 5`: two that follow one another are a range."""
    low, high = phrases.items[first].number or 0, phrases.items[second].number or 0
    between = phrases.text[phrases.items[first].end : phrases.items[second].start].strip().lower()
    return between in JOINS and high == low + 1 and high <= 5


def _is_range(text: str, phrases: object, first: int, second: int) -> bool:
    items = phrases.items  # type: ignore[attr-defined]
    between = text[items[first].end : items[second].start].strip().lower()
    return bool(re.fullmatch(r"-|to|bis|a|à|until|through|–|~|から", between))


def subjects_meant(reading: Reading) -> list[str]:
    """The subjects that are named, and those of fields and categories that are."""
    of_groups = [GROUPS[name][0] for name in reading.groups]
    of_categories = ["mathematics" for name in reading.categories if name in MATHEMATICAL]
    return sorted({*reading.subjects, *of_groups, *of_categories})
