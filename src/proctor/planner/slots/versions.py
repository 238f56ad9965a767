"""Versions and sizes of families: `gpt-5.4, 5.4-mini and 5.4-nano`, `every opus since 4.5`, `the gpt-5.4 family`."""

from __future__ import annotations

import re

from msgspec.structs import replace

from proctor.planner.catalogue import FAMILIES, FLAGSHIP, PlannerCatalogue
from proctor.planner.lexicon import Concepts
from proctor.planner.names import UNITS, known_names, squash
from proctor.planner.phrases import Phrases
from proctor.planner.slots.vary import JOINS

EVERY = frozenset({"all", "all the", "every", "each", "alle", "sämtliche", "jedes", "jeder", "todos", "todos los",
                   "tous", "tous les", "모든", "すべての", "全ての", "全", "所有", "所有的", "全部"})  # fmt: skip
_RANGE = frozenset({"to", "through", "thru", "until", "till", "-", "\u2013", "~", "\u301c", "bis", "a", "al", "hasta",
                    "à", "jusqu'à", "から", "到", "至", "에서", "부터"})  # fmt: skip
_IN_LATIN = {
    "미니": "mini", "나노": "nano", "프로": "pro", "플래시": "flash", "플래시 라이트": "flash-lite",
    "플래시라이트": "flash-lite", "ミニ": "mini", "ナノ": "nano", "プロ": "pro", "フラッシュ": "flash",
    "フラッシュライト": "flash-lite", "迷你": "mini", "迷你版": "mini",
}  # fmt: skip
_BEHIND = re.compile(rf"[ -]?(\d+(?:\.\d+)?)?[ -]?({'|'.join(sorted(_IN_LATIN, key=len, reverse=True))})")
_OWNING = re.compile(r"'s\s*|\s+in\s+|\s*[的の의]\s*")
_JOINING = (
    r"\s*(?:'s\s|in\s|의|の|的|,?\s*(?:and|or|und|oder|y|o|et|ou|to|bis|&|\+|/|vs\.?|,|、"
    r"|와|과|랑|하고|と|和|跟)\s*(?:the |its )?)\s*"
)
_SIZES = {
    "openai": re.compile(rf"{_JOINING}((?:(\d+(?:\.\d+)?)[ -]?)(mini|nano|pro|codex|terra|luna|sol|astra))\b"),
    "google": re.compile(rf"{_JOINING}((?:(\d+(?:\.\d+)?)[ -]?)?(flash[ -]lite|flash|pro))\b"),
}
_ONWARDS = re.compile(
    r"\s*(?:以降|以后|以来|이후|부터|이상|onwards?|and (?:up|newer|later|above)|or (?:newer|later)|aufwärts|und neuer"
    r"|o posterior(?:es)?|en adelante|et (?:plus récents?|suivants?))"
)
_SINCE = re.compile(r"\s*(?:models?|versions?)?\s*(?:since|from|ab|seit|desde|depuis|à partir de)\s*$")
_SERIES = re.compile(
    r"\s*(?:model )?(?:family|series|line-?up|line|familie|reihe|serie|familia|famille|série|gamme"
    r"|시리즈|제품군|シリーズ|ファミリー|系列|家族|全系列)"
    r"|\s*(?:in|en|dans) (?:all|allen|todos los|toutes les) (?:sizes|größen|tamaños|tailles)"
)
SAYS_SO = re.compile(
    r"versions?|versionen|versiones|버전|バージョン|版本|이후|以降|以后|부터|x|family|line|series|sizes|familie|reihe|familia"
    r"|famille|시리즈|シリーズ|系列|onwards?"
)
_MAJOR = re.compile(r"(?:claude[ -]?)?([a-z]+)[ -]?(\d)")


def merge_sizes(phrases: Phrases, catalogue: PlannerCatalogue) -> None:
    """`gpt-5.4, 5.4-mini`, `gemini 2.5 flash and pro`: a size behind a model is a model, where the catalogue has it."""
    names = known_names(catalogue).squashed
    _merge_behind(phrases, names)
    at, text = 0, phrases.text.lower()
    while at < len(phrases.items):
        item = phrases.items[at]
        house = item.value.partition("/")[0] if item.kind == "model" else FAMILIES.get(item.value, ("",))[0]
        is_model = item.kind in ("model", "family") and house in _SIZES
        found = _SIZES[house].match(text, item.end) if is_model else None
        if found is not None:
            first, end = found.span(1)
            places = range(len(phrases.items))
            inside = [p for p in places if first <= phrases.items[p].start and phrases.items[p].end <= end]
            name = _sized(item.value, found[2], re.sub("[ -]", "-", found[3]), house)
            meaning = ((("family", name),) if name in FAMILIES else names.get(squash(name))) if name else None
            if meaning is not None and inside and phrases.items[inside[0]].kind != "model":
                begin, last = phrases.items[inside[0]], phrases.items[inside[-1]]
                merged = replace(begin, meanings=meaning, last=last.last, end=last.end, number=None)
                phrases.items[inside[0] : inside[-1] + 1] = [merged]
                if _OWNING.fullmatch(phrases.text[item.end : begin.start].lower()):
                    phrases.use(at)  # `gpt-5.4's mini and nano` are two
        at += 1


def _merge_behind(phrases: Phrases, names: dict[str, Concepts]) -> None:
    """`gpt 4.1 미니`, `제미나이 2.5 플래시`: a size in another script right behind is a part of the name."""
    for at, item in enumerate(phrases.items):
        house = item.value.partition("/")[0] if item.kind == "model" else FAMILIES.get(item.value, ("",))[0]
        found = _BEHIND.match(phrases.text, item.end)
        if house not in _SIZES or found is None or item.kind not in ("model", "family"):
            continue
        name = _sized(item.value, found[1], _IN_LATIN[found[2]], house)
        meaning = ((("family", name),) if name in FAMILIES else names.get(squash(name))) if name else None
        last = at
        while last + 1 < len(phrases.items) and phrases.items[last + 1].end <= found.end():
            last += 1
        if meaning is not None and last > at:
            end = phrases.items[last]
            merged = replace(item, meanings=meaning, last=end.last, end=end.end)
            phrases.items[at : last + 1] = [merged]


def _sized(before: str, version: str | None, size: str, house: str) -> str | None:
    """The name of a size: of the version that is said, or of the one before."""
    known = re.search(r"\d+(?:\.\d+)?", before)
    number = version or (known[0] if known else None)
    if number is not None:
        return f"{'gpt' if house == 'openai' else 'gemini'}-{number}-{size}"
    return f"gemini-{size}" if f"gemini-{size}" in FAMILIES else None


def merge_ranges_of_versions(phrases: Phrases, catalogue: PlannerCatalogue) -> None:
    """`opus 4.5 through 4.8`, `sonnet 4 and 4.5`: numbers behind a version are further versions of its family."""
    names = known_names(catalogue).squashed
    at = 0
    while at + 2 < len(phrases.items):
        item, link, number = phrases.items[at : at + 3]
        family = family_of(catalogue, item.value) if item.kind == "model" and number.number is not None else None
        written = phrases.text[number.start : number.end]
        said = phrases.text[link.start : link.end].lower()
        is_range = said in _RANGE
        is_linked = is_range or said in JOINS or link.kind == "compare" or (said == "," and "." in written)
        follows = phrases.items[at + 3].kind if at + 3 < len(phrases.items) else ""
        meaning = names.get(squash(f"{family}{written}")) if family and is_linked else None
        if meaning is not None and meaning[0][0] == "model" and meaning[0][1] != item.value and follows not in UNITS:
            inside = _between(catalogue, str(family), item.value, meaning[0][1]) if is_range else ()
            meanings = (*meaning, *(("also", name) for name in inside))
            phrases.items[at + 2] = replace(number, meanings=meanings, number=None)
            if is_range:
                phrases.use(at + 1)
        at += 1


def family_of(catalogue: PlannerCatalogue, model: str) -> str | None:
    """The family whose versions a model is one of."""
    house, _, short = model.partition("/")
    fitting = (
        name
        for name, (provider, pattern) in FAMILIES.items()
        if name not in ("claude", "gemini") and provider == house and re.fullmatch(pattern, short)
    )
    return next((name for name in fitting if model in catalogue.generations(name)), None)


def _between(catalogue: PlannerCatalogue, family: str, first: str, last: str) -> list[str]:
    names = catalogue.generations(family)
    if first not in names or last not in names:
        return []
    low, high = sorted((names.index(first), names.index(last)))
    return names[low + 1 : high]


def several_versions(phrases: Phrases, catalogue: PlannerCatalogue, at: int) -> tuple[list[str], str, list[int]]:
    """The models of `every opus`, `opus 4.x`, `the gpt-5.4 family`, why, and the places that say it."""
    item = phrases.items[at]
    before, behind = phrases.text[: item.start].lower(), phrases.text[item.end :].lower()
    is_said = item.kind == "model" and (_ONWARDS.match(behind) or _SERIES.match(behind) or behind.startswith(".x"))
    if item.kind != "family" and not is_said:
        return [], "", []
    family = item.value if item.kind == "family" else family_of(catalogue, item.value)
    if family is None:
        return [], "", []
    told = f"a version of {family} in the price list"
    if item.kind == "model":
        return _of_version(phrases, catalogue, at, family, told)
    names = catalogue.generations(family)
    number = at + 1 if at + 1 < len(phrases.items) and phrases.items[at + 1].number is not None else None
    every = _every_before(phrases, at)
    if number is not None and every and phrases.is_kind(phrases.after(number, most=0), "modelword"):
        found = [name for name in names if re.search(rf"-{phrases.items[number].number}(?:-\d{{1,2}})?$", name)]
        return found, told, [at, number, *every]
    since = next((place for place in range(at + 1, min(at + 5, len(phrases.items)))
                  if phrases.items[place].number is not None), None)  # fmt: skip
    if since is not None and _SINCE.match(phrases.text[item.end : phrases.items[since].start].lower()):
        low = known_names(catalogue).squashed.get(squash(f"{family}{phrases.words(since)}"))
        if low is not None and low[0][1] in names:
            return names[: names.index(low[0][1]) + 1], told, [at, since, *every]
    if every and family in FLAGSHIP.values():
        return catalogue.lines(FAMILIES[family][0]), f"the newest of a line of {FAMILIES[family][0]}", [at, *every]
    if every:
        counts = [phrases.items[place].number for place in every if phrases.items[place].number is not None]
        return names[: int(counts[0] or 0)] if counts else names, told, [at, *every]
    if family not in FLAGSHIP.values() and _SERIES.match(behind) and not before.endswith("-"):
        return names, told, [at]
    return [], "", []


def _of_version(
    phrases: Phrases, catalogue: PlannerCatalogue, at: int, family: str, told: str
) -> tuple[list[str], str, list[int]]:
    """`opus 4.x`, `opus 4.5 and newer`, `the gpt-5.4 family`."""
    item, names = phrases.items[at], catalogue.generations(family)
    behind = phrases.text[item.end :].lower()
    major = _MAJOR.fullmatch(phrases.text[item.start : item.end].lower())
    if major and re.match(r"\.x\b", behind):
        return [name for name in names if re.search(rf"-{major[2]}(?:[.-]\d{{1,2}})?(?:-sol)?$", name)], told, [at]
    if _ONWARDS.match(behind):
        return names[: names.index(item.value) + 1], told, [at]
    if _SERIES.match(behind) and item.value.startswith("openai/"):
        known = {one.name for one in catalogue.models}
        sizes = [f"{item.value}{size}" for size in ("", "-mini", "-nano", "-pro")]
        return [name for name in sizes if name in known], f"a size of {item.value.partition('/')[2]}", [at]
    return [], "", []


def _every_before(phrases: Phrases, at: int) -> list[int]:
    """The places of `all`, `every` or `all three` right before; none where there is no such word."""
    place = at - 1
    places = [place] if place >= 0 and phrases.items[place].number is not None else []
    place -= bool(places)
    if place >= 0 and phrases.words(place).lower() in ("the", "los", "les", "der", "die", "of", "的", "の"):
        place -= 1
    is_every = place >= 0 and place not in phrases.used and phrases.words(place).lower() in EVERY
    return [place, *places] if is_every else []
