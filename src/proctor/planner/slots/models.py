"""Models: by name, by family, by size or price, by key; and the ones that judge."""

from __future__ import annotations

import re

from msgspec.structs import replace

from proctor.domain.errors import UserError
from proctor.planner.catalogue import FAMILIES, FLAGSHIP, PlannerCatalogue
from proctor.planner.names import UNITS as COUNTED
from proctor.planner.names import known_names, squash
from proctor.planner.phrases import Phrase, Phrases
from proctor.planner.reading import Reading, Unsupported
from proctor.planner.slots.lines import NAMED, of_lines, of_several, of_versions
from proctor.planner.slots.vary import JOINS

MAX_DESCRIBING = 4
"""How many words may stand between a provider and the model of it that is named."""
FARTHEST_VERB = 12
"""How many phrases may stand between who judges and the verb at the end of a clause."""


def read_judges(reading: Reading, catalogue: PlannerCatalogue) -> None:
    """Models named as judges: behind `judged by` or `judge is`, within `a panel of`, or before `grades them`."""
    phrases = reading.phrases
    for at in [*phrases.free("panel"), *phrases.free("judge"), *phrases.free("judgeverb")]:
        if at in phrases.used:
            continue
        chain = _judges_at(phrases, at)
        if not chain:
            continue
        for place in chain:
            name = _resolve(reading, catalogue, place)
            if name is not None and name not in reading.judge:
                reading.judge.append(name)
        # `should judge` behind the names, and `a panel` before them, say the same once more.
        again = [place for place in phrases.free("judge", "judgeverb", "panel") if -2 <= place - chain[-1] <= 3]
        phrases.take("judge", list(reading.judge), *sorted({at, *chain, *again}))


def _judges_at(phrases: Phrases, at: int) -> list[int]:
    kind = phrases.items[at].kind
    is_colon = at + 1 < len(phrases.items) and phrases.items[at + 1].value in (":", "(")
    behind = _chain(phrases, phrases.after(at + is_colon, over="judge", most=4), 1)
    ahead = _chain(phrases, phrases.before(at, most=2), -1)
    if kind == "panel":
        return behind
    follows = phrases.text[phrases.items[at].end :]
    if kind == "judgeverb" and not ahead and (told := _told_to(phrases, at)):
        return told
    if kind == "judgeverb" and not ahead:  # `grade haiku on gsm8k` names what is measured
        return behind if re.match(r"\s*(?:is|:|by|with|using|von|mit|por|con|par|avec)", follows) else []
    if ahead and (kind == "judgeverb" or _is_made_to(phrases, min(ahead))):
        return behind if behind and re.match(r"\s*(?:by|using|von|por|par)\b", follows) else ahead
    return behind or ahead


def _is_made_to(phrases: Phrases, first: int) -> bool:
    """`let opus judge`, `have gpt-5 as judge`: who judges stands before the word."""
    begins = phrases.text[: phrases.items[first].start].rstrip().lower()
    return bool(re.search(r"\b(?:let|have|make|get|ask|lass|lasse|laisse|deja)$", begins))


def _told_to(phrases: Phrases, verb: int) -> list[int]:
    """`lass Opus die Antworten von Haiku bewerten`: who judges stands behind `lass`, far from the verb."""
    for at in range(verb - 1, max(-1, verb - FARTHEST_VERB), -1):
        if phrases.items[at].value in (".", ";", ","):
            return []
        if phrases.is_kind(at, *NAMED) and at not in phrases.used and _is_made_to(phrases, at):
            return _chain(phrases, at, 1)
    return []


def _chain(phrases: Phrases, at: int | None, step: int) -> list[int]:
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


def read_models(reading: Reading, catalogue: PlannerCatalogue) -> None:
    """Every model that is meant, in the order in which it is said."""
    phrases = reading.phrases
    found: list[tuple[int, str, list[int]]] = []
    for at in list(phrases.free("tier")):
        if at not in phrases.used:
            found += _of_tier(reading, catalogue, at)
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
        name = _resolve(reading, catalogue, at)
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


def _house(item: Phrase) -> str:
    """Whose a model or a family is."""
    return item.value.partition("/")[0] if item.kind == "model" else FAMILIES[item.value][0]


_JOINED = re.compile(r"\b(?:and|und|y|et|or|oder|vs|against|gegen|contra|contre|plus)\b|[&+와과랑とや和跟]")
_WHICH = re.compile(
    r"\b(?:which|what|welches|welcher|welche|qué|cuál|quel|quelle)\s+(?:\w+\s+)?$|(?:どの|어느|어떤|哪个|哪款)\s*$"
)


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


def _is_asked(phrases: Phrases, provider: int) -> bool:
    """`which openai model is best? try mini and nano`: the provider asks which, and is no model of its own."""
    return bool(_WHICH.search(phrases.text[: phrases.items[provider].start].lower()))


def _use_describing(phrases: Phrases) -> None:
    """`haiku (anthropic)`, `클로드 하이쿠`: a provider right beside a model of its own says no further one."""
    for at in list(phrases.free("family")):
        line = phrases.items[at].value
        place = next((p for p in (at + 1, at + 2) if p < len(phrases.items) and phrases.is_kind(p, *NAMED)), None)
        if line in FLAGSHIP.values() and place is not None:
            gap = phrases.text[phrases.items[at].end : phrases.items[place].start]
            if _house(phrases.items[place]) == FAMILIES[line][0] and gap in ("", " ", "-", "'s ", "\u30fb"):
                phrases.use(at)
    named = {_house(item) for item in phrases.items if item.kind in NAMED}
    for at in list(phrases.free("provider")):
        house = phrases.items[at].value
        if house in named and _is_asked(phrases, at):
            phrases.use(at)
            continue
        for beside in (_model_beside(phrases, at, -1), _model_beside(phrases, at, 1)):
            if beside is None or not phrases.is_kind(beside, *NAMED):
                continue
            own = _house(phrases.items[beside])
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
        for place in _chain(phrases, at, 1) or [at]:
            name = _resolve(reading, catalogue, place) if phrases.is_kind(place, *NAMED) else None
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


def _of_tier(reading: Reading, catalogue: PlannerCatalogue, at: int) -> list[tuple[int, str, list[int]]]:
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
    named = {_house(item) for item in phrases.items if item.kind in NAMED}
    named |= {"openai" for item in phrases.items if item.kind == "sizeword"}
    is_asked = any(phrases.items[place].value in named and _is_asked(phrases, place) for place in providers)
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
        if is_model and _house(phrases.items[at]) in houses:
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
