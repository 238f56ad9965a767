"""Models: by name, by family, by size or price, by key; and the ones that judge."""

from __future__ import annotations

from proctor.planner.catalogue import FAMILIES, FLAGSHIP, PlannerCatalogue
from proctor.planner.phrases import Phrases
from proctor.planner.reading import Reading, Unsupported

NAMED = ("model", "family")


def read_judges(reading: Reading, catalogue: PlannerCatalogue) -> None:
    """Models named as judges: behind `judged by`, `judge is`, within `a panel of`, or right before `as judge`."""
    phrases = reading.phrases
    for at in [*phrases.free("panel"), *phrases.free("judge")]:
        if at in phrases.used:
            continue
        is_panel = phrases.items[at].kind == "panel"
        is_colon = at + 1 < len(phrases.items) and phrases.items[at + 1].value == ":"
        first = phrases.after(at + is_colon, most=3)
        chain = _chain(phrases, first, 1)
        if not chain and not is_panel:
            last = phrases.before(at, most=2)
            chain = _chain(phrases, last, -1)
        if not chain:
            continue
        for place in chain:
            name = _resolve(reading, catalogue, place)
            if name is not None and name not in reading.judge:
                reading.judge.append(name)
        judges = [at, *chain]
        if is_panel:  # `should judge` behind a panel's names says the same once more
            judges += [place for place in phrases.free("judge") if 0 < place - chain[-1] <= 3]
        phrases.take("judge", list(reading.judge), *sorted(judges))


def _chain(phrases: Phrases, at: int | None, step: int) -> list[int]:
    """Models that follow one another, joined by `and`."""
    found: list[int] = []
    while at is not None and phrases.is_kind(at, *NAMED) and at not in phrases.used:
        found.append(at)
        link = at + step
        is_linked = 0 <= link < len(phrases.items) and phrases.items[link].kind == "filler"
        at = link + step if is_linked and 0 <= link + step < len(phrases.items) else None
    return found


def read_models(reading: Reading, catalogue: PlannerCatalogue) -> None:
    """Every model that is meant, in the order in which it is said."""
    phrases = reading.phrases
    found: list[tuple[int, str, list[int]]] = []
    for at in list(phrases.free("tier")):
        if at not in phrases.used:
            found += _of_tier(reading, catalogue, at)
    for at in list(phrases.free("models")):
        found += _of_choice(reading, catalogue, at)
    for at in list(phrases.free(*NAMED, "provider")):
        if _is_excluded(phrases, at):
            phrases.take("models.except", phrases.words(at), at)
            continue
        aged = _of_age(reading, catalogue, at)
        if aged:
            found += aged
            continue
        name = _resolve(reading, catalogue, at)
        if name is not None:
            found.append((at, name, [at]))
    for at in list(phrases.free("predecessor")):
        found += _of_predecessor(reading, catalogue, at, found)
    for _, name, places in sorted(found, key=lambda item: item[0]):
        if name not in reading.models:
            phrases.take(f"models[{len(reading.models)}]", name, *places)
            reading.models.append(name)
        else:
            phrases.use(*places)


def _is_excluded(phrases: Phrases, at: int) -> bool:
    before, after = phrases.before(at, most=1), phrases.after(at, most=1)
    for place, kind in ((before, "except"), (after, "suffixexcept")):
        if place is not None and phrases.is_kind(place, kind):
            phrases.use(place)
            return True
    return False


def _resolve(reading: Reading, catalogue: PlannerCatalogue, at: int) -> str | None:
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


def _of_age(reading: Reading, catalogue: PlannerCatalogue, at: int) -> list[tuple[int, str, list[int]]]:
    """`the previous sonnet`, `the two newest opus models`: versions of a family by their age."""
    phrases = reading.phrases
    item = phrases.items[at]
    ages = [place for place in (phrases.before(at, most=1), phrases.after(at, most=0)) if phrases.is_kind(place, "age")]
    if not ages:
        return []
    age, number = phrases.items[ages[0]].value, phrases.before(min(ages[0], at), most=1)
    if not phrases.is_kind(number, "number"):
        number = phrases.before(at, most=0) if ages[0] < at else None
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


def _of_tier(reading: Reading, catalogue: PlannerCatalogue, at: int) -> list[tuple[int, str, list[int]]]:
    """`the two cheapest from OpenAI`, `two small models`: only beside a provider or the word `model`."""
    phrases, tier = reading.phrases, reading.phrases.items[at].value
    around = _around(phrases, at)
    numbers = [place for place in around if phrases.is_kind(place, "number")]
    words = [place for place in around if phrases.is_kind(place, "modelword")]
    providers = [place for place in around if phrases.is_kind(place, "provider")]
    if not (words or providers):
        return []
    count = int(phrases.items[numbers[0]].number or 1) if numbers else 1
    houses = [phrases.items[place].value for place in providers] or list(catalogue.keys) or ["anthropic", "openai"]
    places = sorted({at, *numbers[:1], *words, *providers, *_counters(phrases, around)})
    names = _ranked(catalogue, tier, houses, count, is_each=len(providers) > 1)
    phrases.use(*places)
    told = {"cheap": "the cheapest by the price list", "small": "a newest small model", "large": "a newest large model"}
    for name in names:
        reading.model_notes.append((name, f"{told[tier]}, of {', '.join(houses)}"))
    if len(names) < count:
        reading.unsupported.append(Unsupported(phrases.words(*places), f"only {len(names)} such models are known here"))
    return [(at, name, places) for name in names]


def _around(phrases: Phrases, at: int) -> list[int]:
    """The places near a word for a size, in its clause, up to a phrase that belongs to something else."""
    ours = ("filler", "number", "modelword", "provider", "counter", "tier", "sample", "compare")
    found = [at]
    for step in (-1, 1):
        place = at + step
        while 0 <= place < len(phrases.items) and abs(place - at) <= 5 and phrases.items[place].kind in ours:
            if place in phrases.used or (step < 0 and phrases.items[place].kind == "sample"):
                break
            found.append(place)
            place += step
    return sorted(found)


def _counters(phrases: Phrases, around: list[int]) -> list[int]:
    """`두 개` behind `모델`: the counter belongs to the number."""
    numbers = [place for place in around if phrases.is_kind(place, "number")][:1]
    return [
        place for place in around if numbers and place == numbers[0] + 1 and phrases.is_kind(place, "sample", "counter")
    ]


def _ranked(catalogue: PlannerCatalogue, tier: str, houses: list[str], count: int, *, is_each: bool) -> list[str]:
    if tier == "cheap":
        groups = [[house] for house in houses] if is_each else [houses]
        return [item.name for group in groups for item in catalogue.cheapest(group)[:count]]
    return (catalogue.small(houses) if tier == "small" else catalogue.large(houses))[:count]
