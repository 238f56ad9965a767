"""Models: by name, by family, by age, by key."""

from __future__ import annotations

import re

from msgspec.structs import replace

from proctor.domain.errors import UserError
from proctor.planner.catalogue import FAMILIES, FLAGSHIP, PlannerCatalogue
from proctor.planner.names import UNITS as COUNTED
from proctor.planner.names import known_names, squash
from proctor.planner.phrases import Phrases
from proctor.planner.reading import Reading, Unsupported
from proctor.planner.slots.lines import NAMED, of_lines, of_several, of_versions
from proctor.planner.slots.naming import asks_which, chain, house_of, resolved
from proctor.planner.slots.tiers import of_tier

MAX_DESCRIBING = 4
"""How many words may stand between a provider and the model of it that is named."""


def read_models(reading: Reading, catalogue: PlannerCatalogue) -> None:
    """Every model that is meant, in the order in which it is said."""
    phrases = reading.phrases
    found: list[tuple[int, str, list[int]]] = []
    for at in list(phrases.free("tier")):
        if at not in phrases.used:
            found += of_tier(reading, catalogue, at)
    for at in list(phrases.free("models")):
        found += _of_choice(reading, catalogue, at)
    _inherit_versions(phrases, catalogue)
    left_out = _excluded_models(reading, catalogue)
    _use_describing(phrases)
    for at in list(phrases.free(*NAMED, "provider")):
        several = of_versions(reading, catalogue, at) or of_lines(reading, catalogue, at)
        several = several or _of_age(reading, catalogue, at) or of_several(reading, catalogue, at)
        if several:
            found += several
            continue
        name = resolved(reading, catalogue, at)
        also = [value for kind, value in phrases.items[at].meanings if kind == "also"]
        found += [(at, one, [at]) for one in (*also, name) if one is not None]
    for at in list(phrases.free("predecessor")):
        found += _of_predecessor(reading, catalogue, at, found)
    for at in list(phrases.free("age")):
        found += _of_same_family(reading, catalogue, at, found)
    _put_models(reading, found, left_out)


def _put_models(reading: Reading, found: list[tuple[int, str, list[int]]], left_out: list[str]) -> None:
    """Set the models that were found, in the order in which they are said, without those that are left out."""
    phrases = reading.phrases
    if left_out:
        kept = [item for item in found if item[1] not in left_out]
        if found and not kept:
            raise UserError(f"The query leaves out every model that it names ({', '.join(left_out)}): name one to run.")
        found = kept
    for _, name, places in sorted(found, key=lambda item: item[0]):
        if name not in reading.models:
            phrases.take(f"models[{len(reading.models)}]", name, *places)
            reading.models.append(name)
        else:
            phrases.use(*places)


_JOINED = re.compile(r"\b(?:and|und|y|et|or|oder|vs|against|gegen|contra|contre|plus)\b|[&+와과랑とや和跟]")

_HOUSE = ("家", "家的", "casa", "maison", "provider", "社", "사")


def _model_beside(phrases: Phrases, provider: int, step: int) -> int | None:
    """The model that a provider describes: `the Anthropic model Haiku 4.5`, `haiku 4.5 (Anthropic's small model)`."""
    at, skipped = provider + step, 0
    while 0 <= at < len(phrases.items) and skipped <= MAX_DESCRIBING:
        item = phrases.items[at]
        if item.kind in NAMED:
            return at
        if item.value in (".", "!", "?") or (
            item.kind not in ("filler", "stop", "modelword", "tier", "age") and phrases.words(at) not in _HOUSE
        ):
            return None
        skipped, at = skipped + 1, at + step
    return None


def _use_describing(phrases: Phrases) -> None:
    """`haiku (anthropic)`, `클로드 하이쿠`: a provider right beside a model of its own says no further one."""
    for at in list(phrases.free("family")):
        line = phrases.items[at].value
        place = next((p for p in (at + 1, at + 2) if p < len(phrases.items) and phrases.is_kind(p, *NAMED)), None)
        if line in FLAGSHIP.values() and place is not None:
            gap = phrases.text[phrases.items[at].end : phrases.items[place].start]
            if house_of(phrases.items[place]) == FAMILIES[line][0] and gap in ("", " ", "-", "'s ", "\u30fb"):
                phrases.use(at)
    named = {house_of(item) for item in phrases.items if item.kind in NAMED}
    for at in list(phrases.free("provider")):
        house = phrases.items[at].value
        if house in named and asks_which(phrases, at):
            phrases.use(at)
            continue
        for beside in (_model_beside(phrases, at, -1), _model_beside(phrases, at, 1)):
            if beside is None or not phrases.is_kind(beside, *NAMED):
                continue
            own = house_of(phrases.items[beside])
            first, last = sorted((at, beside))
            between = phrases.text[phrases.items[first].end : phrases.items[last].start].strip().lower()
            between = re.sub(r"[\"“”()]", "", between).strip()
            if own == house and not _JOINED.search(between):
                phrases.use(at)
                break


def _excluded_models(reading: Reading, catalogue: PlannerCatalogue) -> list[str]:
    """`except opus and sonnet`: the models that a query leaves out."""
    phrases, found = reading.phrases, list[str]()
    for at in list(phrases.free(*NAMED, "provider")):
        if at in phrases.used or not _is_excluded(phrases, at):
            continue
        for place in chain(phrases, at, 1) or [at]:
            name = resolved(reading, catalogue, place) if phrases.is_kind(place, *NAMED) else None
            found += [name] if name is not None else []
            phrases.take("models.except", name or phrases.words(place), place)
    return found


def merge_versions(phrases: Phrases, catalogue: PlannerCatalogue) -> None:
    """`소넷 5.5`: a family in another script with the number of its version is one model."""
    names = known_names(catalogue).squashed
    at = 0
    while at + 1 < len(phrases.items):
        item, behind = phrases.items[at], phrases.items[at + 1]
        written = phrases.text[behind.start : behind.end]
        is_near = (
            item.kind == "family" and behind.number is not None and phrases.text[item.end : behind.start] in ("", " ")
        )
        meaning = names.get(squash(f"{item.value}{written}")) if is_near else None
        follows = phrases.items[at + 2].kind if at + 2 < len(phrases.items) else ""
        if meaning is not None and meaning[0][0] == "model" and follows not in COUNTED:
            phrases.items[at : at + 2] = [replace(item, meanings=meaning, last=behind.last, end=behind.end)]
        at += 1


def _inherit_versions(phrases: Phrases, catalogue: PlannerCatalogue) -> None:
    """`gpt-5.4, mini and nano`: a word for a size behind a version is the model of this size of that version."""
    known = {item.name for item in catalogue.models}
    last: str | None = None
    for at, item in enumerate(phrases.items):
        if item.kind == "model" and item.value.startswith("openai/gpt-"):
            last = re.sub(r"-(?:mini|nano|pro|codex|turbo)$", "", item.value)
        elif item.kind == "sizeword" and at not in phrases.used:
            name = f"{last}-{item.value}"
            meaning = ("model", name) if last and name in known else ("family", f"gpt-{item.value}")
            if meaning[1] in FAMILIES or meaning[0] == "model":
                phrases.items[at] = replace(item, meanings=(meaning,))


def _is_excluded(phrases: Phrases, at: int) -> bool:
    before, after = phrases.before(at, most=1), phrases.after(at, most=1)
    for place, kind in ((before, "except"), (after, "suffixexcept")):
        if place is not None and phrases.is_kind(place, kind):
            phrases.use(place)
            return True
    return False


def _of_age(reading: Reading, catalogue: PlannerCatalogue, at: int) -> list[tuple[int, str, list[int]]]:
    """`the previous sonnet`, `the two newest opus models`: versions of a family by their age."""
    phrases = reading.phrases
    item = phrases.items[at]
    before = phrases.before(at, most=1)
    over = phrases.before(before, most=0) if phrases.is_kind(before, "number") else before  # `last two opus versions`
    ages = [place for place in (over, phrases.after(at, most=0)) if phrases.is_kind(place, "age")]
    if not ages:
        return []
    age, number = phrases.items[ages[0]].value, phrases.before(min(ages[0], at), most=1)
    if not phrases.is_kind(number, "number"):
        number = before if ages[0] < at else None
    phrases.use(ages[0])
    known = FAMILIES if item.kind == "family" else FLAGSHIP
    if item.kind == "model" or item.value not in known:
        return []
    names = catalogue.generations(item.value)
    count = int(phrases.items[number].number or 1) if phrases.is_kind(number, "number") else 1
    start = {"new": 0, "previous": 1, "old": max(0, len(names) - count)}[age]
    chosen = names[start : start + count]
    places = sorted({at, ages[0], *([number] if number is not None and phrases.is_kind(number, "number") else [])})
    told = {"new": "newest", "previous": "version before the newest", "old": "oldest"}[age]
    reading.model_notes += [(name, f"the {told} {item.value} in the price list") for name in chosen]
    if chosen:
        phrases.use(*places)
    return [(at, name, places) for name in chosen]


def _of_predecessor(
    reading: Reading, catalogue: PlannerCatalogue, at: int, found: list[tuple[int, str, list[int]]]
) -> list[tuple[int, str, list[int]]]:
    """`opus and the one before it`: the version before the model that is said last."""
    last = max((item for item in found if item[0] < at), default=None)
    for family in FAMILIES if last else ():
        names = catalogue.generations(family)
        if last and last[1] in names[:-1]:
            name = names[names.index(last[1]) + 1]
            reading.model_notes.append((name, f"the version before {last[1].partition('/')[2]} in the price list"))
            return [(at, name, [at])]
    return []


def _of_same_family(
    reading: Reading, catalogue: PlannerCatalogue, at: int, found: list[tuple[int, str, list[int]]]
) -> list[tuple[int, str, list[int]]]:
    """`the previous opus with the current one`: another version of the family that is said last."""
    phrases = reading.phrases
    if not re.match(r"\s*(?:one|version|ones)\b", phrases.text[phrases.items[at].end :].lower()):
        return []
    last = max((item for item in found if item[0] < at), default=None)
    for family in FAMILIES if last else ():
        names = catalogue.generations(family)
        if last and last[1] in names:
            place = {"new": 0, "previous": names.index(last[1]) + 1, "old": len(names) - 1}[phrases.items[at].value]
            if place < len(names) and names[place] != last[1]:
                reading.model_notes.append((names[place], f"another version of {family} in the price list"))
                return [(at, names[place], [at])]
            return []
    return []


def _of_choice(reading: Reading, catalogue: PlannerCatalogue, at: int) -> list[tuple[int, str, list[int]]]:
    """`my local model`, `everything I have a key for`."""
    phrases = reading.phrases
    if phrases.items[at].value == "local":
        return [(at, catalogue.local, [at])]
    names = [name for name in map(catalogue.flagship, catalogue.keys) if name]
    if not names:
        phrases.use(at)
        reading.unsupported.append(Unsupported(phrases.words(at), "no key of a provider is set here"))
    for name in names:
        provider = name.partition("/")[0]
        reading.model_notes.append((name, f"the newest general model of {provider}, whose key is set"))
    return [(at, name, [at]) for name in names]
