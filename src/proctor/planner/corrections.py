"""What a query takes back: `100 questions, no, actually 50`; and amounts below nothing, which are refused."""

from __future__ import annotations

from msgspec.structs import replace

from proctor.domain.errors import UserError
from proctor.planner.phrases import Phrase, Phrases

GROUPS = (("model", "family"), ("benchmark", "bench", "softname"), ("language",), ("subject", "group", "category"))
UNITS = ("sample", "currency", "minutes", "seconds", "percent", "shot", "epoch", "times", "temperature", "seed")
FARTHEST = 4


def apply_corrections(phrases: Phrases) -> None:
    """Drop what a later word of the same kind replaces, where the query says that it does."""
    at = 0
    while at < len(phrases.items):
        if phrases.items[at].kind == "correction":
            following = _said_next(phrases, at)
            if following is not None:
                _replace(phrases, at, following)
        at += 1


def _said_next(phrases: Phrases, at: int) -> int | None:
    for place in range(at + 1, min(at + 1 + FARTHEST, len(phrases.items))):
        if phrases.items[place].kind in ("difference", "unknown"):
            return None
        if phrases.items[place].kind not in ("filler", "stop", "correction", "only", "atmost", "compare", "currency"):
            return place
    return None


def _replace(phrases: Phrases, at: int, following: int) -> None:
    items = phrases.items
    kinds = next((group for group in GROUPS if items[following].kind in group), None)
    if kinds is not None:
        earlier = next((place for place in range(at - 1, -1, -1) if items[place].kind in kinds), None)
        if earlier is not None and items[earlier].meanings != items[following].meanings:
            _drop(phrases, earlier, at)
    elif items[following].kind == "number":
        _replace_number(phrases, at, following)


def _replace_number(phrases: Phrases, at: int, following: int) -> None:
    unit = _unit_of(phrases, following)
    for earlier in range(at - 1, -1, -1):
        if phrases.items[earlier].kind != "number":
            continue
        other = _unit_of(phrases, earlier)
        if unit is not None and (other is None or phrases.items[other].kind != phrases.items[unit].kind):
            continue
        lost = None if other is None else phrases.items[other]
        is_behind = other is not None and other > earlier
        _drop(phrases, earlier, *([] if other is None else [other]), at)
        if unit is None and lost is not None:
            end = phrases.items[following].end if is_behind else phrases.items[following].start
            phrases.items.insert(following + is_behind, replace(lost, start=end, end=end))
        return


def _unit_of(phrases: Phrases, number: int) -> int | None:
    for place in (phrases.after(number, most=1), phrases.before(number, most=1)):
        if phrases.is_kind(place, *UNITS):
            return place
    return None


def _drop(phrases: Phrases, *places: int) -> None:
    for place in places:
        item: Phrase = phrases.items[place]
        phrases.items[place] = replace(item, meanings=(("filler", ""),), number=None)


def refuse_negative(phrases: Phrases) -> None:
    """A UserError for `-5 questions` and `minus five dollars`."""
    for at, item in enumerate(phrases.items[:-1]):
        number = at + 1
        if phrases.is_kind(number, "filler", "currency") and at + 2 < len(phrases.items):
            number = at + 2 if phrases.items[number].kind == "currency" else number
        following = phrases.items[number]
        if following.number is None:
            continue
        is_sign = item.value == "-" and item.end == phrases.items[at + 1].start
        is_sign = is_sign and (at == 0 or phrases.items[at - 1].end < item.start)
        is_word = (item.kind == "negative" or phrases.words(at).lower() in _MINUS) and _unit_of(
            phrases, number
        ) is not None
        if is_sign or is_word:
            said = phrases.text[item.start : following.end]
            raise UserError(f"{said!r} is less than nothing: sizes, budgets and options here begin at 0.")


_MINUS = frozenset({"minus", "moins", "menos"})
