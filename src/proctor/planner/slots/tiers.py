"""Models by size or price: `the two cheapest from OpenAI`, `a small and a large model`."""

from __future__ import annotations

import re

from proctor.planner.catalogue import FAMILIES, FLAGSHIP, PlannerCatalogue
from proctor.planner.phrases import Phrase, Phrases
from proctor.planner.reading import Reading, Unsupported
from proctor.planner.slots.lines import NAMED
from proctor.planner.slots.naming import asks_which, house_of


def of_tier(reading: Reading, catalogue: PlannerCatalogue, at: int) -> list[tuple[int, str, list[int]]]:
    """`the two cheapest from OpenAI`, `a small and a large model`: only beside a provider or the word `model`."""
    phrases = reading.phrases
    around = _around(phrases, at)
    words = [place for place in around if phrases.is_kind(place, "modelword", "models")]
    providers = [place for place in around if _provider_of(phrases.items[place]) is not None]
    is_every = [place for place in around if phrases.is_kind(place, "eachprovider")]
    if not (words or providers or is_every):
        others = any(item.kind in (*NAMED, "provider", "models", "sizeword") for item in phrases.items)
        if others or phrases.items[at].value != "cheap":
            return []
    is_named = any(item.kind in NAMED for item in phrases.items)
    is_open = not (providers or is_every or any(phrases.is_kind(place, "number") for place in around))
    named = {house_of(item) for item in phrases.items if item.kind in NAMED}
    named |= {"openai" for item in phrases.items if item.kind == "sizeword"}
    is_asked = any(phrases.items[place].value in named and asks_which(phrases, place) for place in providers)
    if ((is_open and is_named) or is_asked) and phrases.items[at].means("compare") is not None:
        return []  # `which model is best, haiku or opus`
    tiers = [place for place in around if phrases.is_kind(place, "tier")]
    found = []
    if providers and not _numbers_in(phrases, around) and _is_described(phrases, at, providers):
        phrases.use(*tiers, *words, *providers)
        return []  # `Anthropic's small Claude Haiku 4.5`
    for index, place in enumerate(tiers):
        own = _of_own(tiers, index, providers) if len(tiers) > 1 and len(providers) > 1 else providers
        houses = (
            [str(_provider_of(phrases.items[one])) for one in own] or list(catalogue.keys) or ["anthropic", "openai"]
        )
        first = tiers[index - 1] if index else -1
        numbers = [one for one in around if phrases.is_kind(one, "number") and first < one]
        numbers = [one for one in numbers if index + 1 == len(tiers) or one < tiers[index + 1]]
        places = sorted({place, *numbers[:1], *_counters(phrases, around)})
        found += _choose_tier(
            reading, catalogue, place, houses, numbers, places, is_each=len(own) > 1 or bool(is_every)
        )
        wishes = {phrases.items[one].value for one in tiers}
        if (len(wishes) == 1 or wishes == {"small", "cheap"}) and len(providers) < 2:
            break  # `small and cheap` is one wish
    phrases.use(*tiers, *words, *providers, *is_every, *_counters(phrases, around))
    return found


def _of_own(tiers: list[int], index: int, providers: list[int]) -> list[int]:
    """The providers of one word for a size where several stand side by side: those before it, or those behind it."""
    before = [place for place in providers if place < tiers[0]]
    low = tiers[index - 1] if index else -1
    high = tiers[index + 1] if index + 1 < len(tiers) else max(providers) + 1
    own = [place for place in providers if (low < place < tiers[index] if before else tiers[index] < place <= high)]
    return own or providers


def _choose_tier(
    reading: Reading, catalogue: PlannerCatalogue, at: int, houses: list[str], numbers: list[int], places: list[int],
    *, is_each: bool,
) -> list[tuple[int, str, list[int]]]:  # fmt: skip
    phrases, tier = reading.phrases, reading.phrases.items[at].value
    is_pair = re.search(r"\b(?:beiden?|both)\s+$", phrases.text[: phrases.items[at].start].lower())
    count = int(phrases.items[numbers[0]].number or 1) if numbers else 2 if is_pair else 1
    names = _ranked(catalogue, tier, houses, count, is_each=is_each)
    phrases.use(*places)
    told = {"cheap": "the cheapest by the price list", "small": "a newest small model", "large": "a newest large model"}
    for name in names:
        reading.model_notes.append((name, f"{told[tier]}, of {', '.join(houses)}"))
    if len(names) < count:
        reading.unsupported.append(Unsupported(phrases.words(*places), f"only {len(names)} such models are known here"))
    return [(at, name, places) for name in names]


def _around(phrases: Phrases, at: int) -> list[int]:
    """The places near a word for a size, in its clause, up to a phrase that belongs to something else."""
    ours = (
        "filler",
        "number",
        "modelword",
        "provider",
        "counter",
        "tier",
        "sample",
        "compare",
        "eachprovider",
        "judge",
        "each",
    )
    found = [at]
    for step in (-1, 1):
        place, since = at + step, 0
        while (
            0 <= place < len(phrases.items)
            and since <= 5
            and (
                phrases.items[place].kind in ours or phrases.items[place].value == ":" or _is_house(phrases, place, at)
            )
        ):
            if place in phrases.used or (step < 0 and phrases.items[place].kind == "sample"):
                break
            found.append(place)
            since = 0 if phrases.items[place].kind in ("tier", "provider", "modelword") else since + 1
            place += step
    return sorted(found)


def _numbers_in(phrases: Phrases, places: list[int]) -> list[int]:
    """Those of the places at which a number stands."""
    return [at for at in places if phrases.is_kind(at, "number")]


def _is_described(phrases: Phrases, tier: int, providers: list[int]) -> bool:
    """Whether a model of the provider stands right beside its words: they describe it."""
    houses = {_provider_of(phrases.items[at]) for at in providers}
    for step in (-1, 1):
        at = tier + step
        while 0 <= at < len(phrases.items) and (
            at in providers
            or phrases.items[at].kind in ("filler", "modelword")
            or phrases.items[at].value in ("(", ")", ",")
        ):
            at += step
        is_model = 0 <= at < len(phrases.items) and phrases.items[at].kind == "model"
        if is_model and house_of(phrases.items[at]) in houses:
            return True
    return False


def _provider_of(item: Phrase) -> str | None:
    """The provider that a phrase names; `the cheapest claude` names one by its general family."""
    if item.kind == "family" and item.value in FLAGSHIP.values():
        return FAMILIES[item.value][0]
    return item.value if item.kind == "provider" else None


def _is_house(phrases: Phrases, place: int, tier: int) -> bool:
    """`cheapest claude`, `the three cheapest models I have keys for`: what a word for a size is about."""
    item = phrases.items[place]
    is_keys = item.kind == "models" and item.value == "keys"
    return is_keys or (place == tier + 1 and item.kind == "family" and item.value in FLAGSHIP.values())


def _counters(phrases: Phrases, around: list[int]) -> list[int]:
    """`두 개` behind `모델`: the counter belongs to the number."""
    numbers = [place for place in around if phrases.is_kind(place, "number")][:1]
    return [
        place for place in around if numbers and place == numbers[0] + 1 and phrases.is_kind(place, "sample", "counter")
    ]


def _ranked(catalogue: PlannerCatalogue, tier: str, houses: list[str], count: int, *, is_each: bool) -> list[str]:
    if tier == "small" and not is_each and len(catalogue.small(houses)) < count:
        tier = "cheap"  # a provider has one newest small model; smaller ones cost less
    if tier == "cheap":
        groups = [[house] for house in houses] if is_each else [houses]
        return [item.name for group in groups for item in catalogue.cheapest(group)[:count]]
    find = catalogue.small if tier == "small" else catalogue.large
    if is_each:
        return [name for house in houses for name in find([house])[:count]]
    return find(houses)[:count]
