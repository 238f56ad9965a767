"""Several values of one option: `temperature 0, 0.5 and 1`, `0-shot vs 5-shot`, `low and high reasoning effort`."""

from __future__ import annotations

import re

from msgspec.structs import replace

from proctor.planner.phrases import Phrases
from proctor.planner.reading import Reading

AXES = {"temperature": "temperature", "top_p": "top_p", "shot": "shots", "maxtoken": "max_tokens"}
MAX_WITH_COMMAS = {"temperature": 2, "top_p": 1, "shots": 32}
"""With commas alone (`temperature 0, 0.5, 1`) a larger number begins something else."""
JOINS = frozenset(
    {
        "and",
        "or",
        "nor",
        "noch",
        "ni",
        "und",
        "oder",
        "bzw",
        "sowie",
        "y",
        "o",
        "e",
        "u",
        "et",
        "ou",
        "&",
        "+",
        "/",
        "と",
        "や",
        "か",
        "와",
        "과",
        "하고",
        "랑",
        "이랑",
        "및",
        "또는",
        "和",
        "与",
        "或",
        "跟",
    }
)
UNITS = ("sample", "currency", "minutes", "seconds", "times", "percent", "points", "modelword", "epoch", "token",
         "counter", "shot", "example", "parallel", "request", "fractionbar")  # fmt: skip
NAMING = ("temperature", "top_p", "seed", "limit", "level", "epoch", "currency", "maxtoken", "interval", "shot")

Value = float | int | str


def read_varied(reading: Reading) -> None:
    """Set every axis of which at least two values are said."""
    phrases = reading.phrases
    _name_shots(phrases)
    for name in ("temperature", "top_p"):
        _read_repeated(reading, name)
    for at in reversed(list(phrases.free(*AXES, "shots"))):
        if at in phrases.used:
            continue
        kind = phrases.items[at].kind
        name = AXES.get(kind, "shots")
        for values, places in (_before(phrases, at, name), _behind(phrases, at, name)):
            if len(values) > 1 and len(set(values)) == len(values) and name not in reading.vary:
                _set(reading, name, values, places)
                break
    _merge_efforts(phrases)
    for at in list(phrases.free("reasoning")):
        values, places = _efforts(phrases, at)
        if len(values) > 1 and "reasoning_effort" not in reading.vary:
            _set(reading, "reasoning_effort", values, places)
    apart = list(phrases.free("reasoning"))
    efforts = list(dict.fromkeys(phrases.items[at].value for at in apart))
    if len(efforts) > 1 and "reasoning_effort" not in reading.vary:  # `gpt-5 low effort vs gpt-5 high effort`
        _set(reading, "reasoning_effort", list(efforts), apart)
    _read_apart(reading)


def _name_shots(phrases: Phrases) -> None:
    """`with 0, 3 and 8 examples`: several numbers of examples, none of them among them, are those that are shown."""
    for at in list(phrases.free("example")):
        number = phrases.before(at, most=1)
        values, is_joined = [], False
        while phrases.is_kind(number, "number") and (phrases.items[number].number or 0) <= MAX_LISTED:
            values.append(phrases.items[number].number)
            number, is_join = _link(phrases, number, -1)
            is_joined = is_joined or is_join
        if len(values) > 1 and is_joined and 0 in values:
            phrases.items[at] = replace(phrases.items[at], meanings=(("shot", ""),))


def _read_repeated(reading: Reading, name: str) -> None:
    """`once at temperature 0 and once at temperature 1`: the option is named with each of its values."""
    phrases, values, places = reading.phrases, list[Value](), list[int]()
    for at in list(phrases.free(name)):
        number = phrases.after(at, most=2)
        if not phrases.is_kind(number, "number") or _has_unit(phrases, number):
            return
        values.append(phrases.items[number].number or 0)
        places += [at, number]
    if len(values) < 2 or len(set(values)) < len(values):
        return
    between = phrases.text[phrases.items[places[1]].end : phrases.items[places[-2]].start].lower()
    if any(item.kind == "correction" for item in phrases.items[places[0] : places[-1]]):
        return
    if _AGAIN.search(between) or _AGAIN.search(phrases.text[: phrases.items[places[0]].start].lower()):
        _set(reading, name, values, places)


MAX_LISTED = 16
_AGAIN = re.compile(
    r"\b(?:and|vs|versus|once|then|und|einmal|dann|gegen|y|una vez|luego|contra|et|une fois|puis|contre)\b"
    r"|한 ?번|그리고|와|과|一度|一回|と|次に|一次|和|对"
)


def _merge_efforts(phrases: Phrases) -> None:
    """`effort: high`, `high thinking effort`: a level beside the word for effort is the effort."""
    for at in list(phrases.free("effortword")):
        for step in (1, -1):
            place, skipped = at + step, 0
            while 0 <= place < len(phrases.items) and skipped < 3 and phrases.items[place].means("effortlevel") is None:
                is_link = phrases.items[place].kind == "filler" or phrases.items[place].value == ":"
                skipped, place = skipped + (1 if is_link else 9), place + step
            if skipped < 3 and 0 <= place < len(phrases.items):
                level = phrases.items[place].means("effortlevel")
                phrases.items[place] = replace(phrases.items[place], meanings=(("reasoning", str(level)),))
                phrases.use(at)
                break


def _read_apart(reading: Reading) -> None:
    """`does temperature matter? try 0 and 1`: values that stand apart from the option's name."""
    phrases = reading.phrases
    for at in list(phrases.free("temperature")):
        if phrases.is_kind(phrases.after(at, most=3), "number") or "temperature" in reading.vary:
            continue
        for number in list(phrases.free("number")):
            link, is_join = _link(phrases, number, 1)
            pair = [phrases.items[place].number or 0 for place in (number, link) if place is not None]
            is_pair = is_join and phrases.is_kind(link, "number") and all(value <= 2 for value in pair)
            if is_pair and link is not None and not (_has_unit(phrases, number) or _has_unit(phrases, link)):
                _set(reading, "temperature", list(pair), [at, number, link])
                return


def _set(reading: Reading, name: str, values: list[Value], places: list[int]) -> None:
    reading.vary[name] = values
    reading.phrases.take(f"matrix.{name}", list(values), *sorted(places))


def _behind(phrases: Phrases, at: int, name: str) -> tuple[list[Value], list[int]]:
    """`temperatures 0 and 1`: the values that follow the option's name."""
    is_colon = at + 1 < len(phrases.items) and phrases.items[at + 1].value == ":"
    first = phrases.after(at + is_colon, over="atleast", most=2)
    if not phrases.is_kind(first, "number") or _has_unit(phrases, first):
        return [], []
    values: list[Value] = [phrases.items[first].number or 0]
    places, last, is_joined = list(range(at, first + 1)), first, False
    while True:
        link, is_join = _link(phrases, last, 1)
        if not phrases.is_kind(link, "number") or _has_unit(phrases, link) or link in phrases.used:
            break
        if phrases.items[link].means("numeral") is not None:
            break  # `temperature 0.7, just a quick look`
        values.append(phrases.items[link].number or 0)
        places += range(last + 1, link + 1)
        last, is_joined = link, is_joined or is_join
    most = MAX_WITH_COMMAS.get(name, 0)
    if not is_joined and (any(float(value) > most for value in values) or (name == "shots" and len(values) < 3)):
        return values[:1], places
    return values, places


def _before(phrases: Phrases, at: int, name: str) -> tuple[list[Value], list[int]]:
    """`0 and 5 shots`, `zero-shot vs 5-shot`: the values stand before the unit, which may stand behind each."""
    value, place = _counted(phrases, at)
    if name != "shots" or value is None:
        return [], []
    values, places, is_joined = [value], list(range(place, at + 1)), False
    while True:
        link, is_join = _link(phrases, place, -1)
        if link is None or link in phrases.used:
            break
        if phrases.is_kind(link, "number") and not phrases.is_kind(phrases.before(link, most=1), *NAMING):
            value, begins = phrases.items[link].number or 0, link
        else:
            value, begins = _counted(phrases, link)
        if value is None:
            break
        values.insert(0, value)
        places += range(begins, place)
        place, is_joined = begins, is_joined or is_join
    return (values, places) if is_joined else (values[-1:], places)


def _counted(phrases: Phrases, at: int) -> tuple[Value | None, int]:
    """`5-shot` or `zero-shot` at this place: its value, and where it begins."""
    if phrases.items[at].kind == "shots":
        return int(phrases.items[at].value), at
    number = phrases.before(at, most=0)
    if phrases.items[at].kind == "shot" and phrases.is_kind(number, "number"):
        return phrases.items[number].number or 0, number
    return None, at


def _efforts(phrases: Phrases, at: int) -> tuple[list[Value], list[int]]:
    """`low vs high reasoning effort`, `reasoning effort low, medium and high`."""
    values: list[Value] = [phrases.items[at].value]
    places = [at]
    for step in (-1, 1):
        last = at
        while True:
            link, _ = _link(phrases, last, step)
            level = None if link is None else phrases.items[link].means("effortlevel")
            if link is None or (level is None and not phrases.is_kind(link, "reasoning")):
                break
            values.insert(0 if step < 0 else len(values), level or phrases.items[link].value)
            places += range(min(last, link), max(last, link) + 1)
            last = link
    return list(dict.fromkeys(values)), sorted(set(places))


def _link(phrases: Phrases, at: int, step: int) -> tuple[int | None, bool]:
    """The next place over commas and words such as `and`, and whether there was such a word."""
    place, is_join, links = at + step, False, 0
    while 0 <= place < len(phrases.items) and links < 3:
        item = phrases.items[place]
        is_word = item.kind == "compare" or phrases.words(place).lower() in JOINS
        if phrases.words(place).lower() in _AT:  # `at low and at high effort`
            place += step
            continue
        if not is_word and item.value not in (",", "、"):
            break
        is_join, links, place = is_join or is_word, links + 1, place + step
    return (place, is_join) if links and 0 <= place < len(phrases.items) else (None, False)


_AT = ("at", "with", "bei", "mit", "con", "à", "avec")


def _has_unit(phrases: Phrases, number: int) -> bool:
    return phrases.is_kind(phrases.after(number, most=0), *UNITS)
