"""What a query takes back: `100 questions, no, actually 50`; and amounts below nothing, which are refused."""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import pairwise

from msgspec.structs import replace

from proctor.domain.errors import UserError
from proctor.planner.names import UNITS as COUNTED
from proctor.planner.phrases import Phrase, Phrases

GROUPS = (("model", "family"), ("benchmark", "bench", "softname"), ("language",), ("subject", "group", "category"))
UNITS = ("sample", "currency", "minutes", "seconds", "percent", "shot", "epoch", "times", "temperature", "seed")
FARTHEST = 4
FARTHEST_UNIT = 6
"""So many phrases may stand between `a few minutes` and `say ten`."""


_NO = frozenset({"no", "nope", "nah", "nein", "nee", "non", "아니", "아뇨", "いや", "いえ", "不"})


def merge_refusals(phrases: Phrases) -> None:
    """`French, no, German`: a bare refusal with a comma behind it takes back what was said before it."""
    for at, item in enumerate(phrases.items[:-1]):
        is_bare = phrases.words(at).lower() in _NO and phrases.items[at + 1].kind == "stop"
        if at and is_bare and phrases.items[at - 1].kind == "stop":
            phrases.items[at] = replace(item, meanings=(("correction", ""),))


def apply_corrections(phrases: Phrases) -> None:
    """Drop what a later word of the same kind replaces, where the query says that it does."""
    at = 0
    while at < len(phrases.items):
        if phrases.items[at].kind == "correction":
            following = _said_next(phrases, at)
            if following is not None:
                _replace(phrases, at, following)
        at += 1


_PLANNED = re.compile(
    r"\b(?:planned|planning|wanted|was going to|were going to|thought|thinking of|originally|initially|at first"
    r"|meant to|geplant|dachte|wollte|ursprünglich|zuerst|erst|eigentlich|quería|pensaba|pensé|al principio|iba a"
    r"|en principio|pensais|voulais|prévu|au départ|d'abord|initialement)\b"
    r"|하려다|하려고 했|원래|처음에는|생각했|と思っ|つもりだ|最初は|予定だ|本来|原本|原来|起初|一开始"
)
_ENOUGH = re.compile(
    r"\b(?:will do|would do|is enough|are enough|will be enough|suffices?|is plenty|are plenty|is fine|are fine"
    r"|reich\w*|genüg\w*|tun es|bast\w+|alcanz\w+|me apaño|suffi\w+)\b"
    r"|충분|줄여|줄임|줄이|면 돼|면 됩|で十分|でいい|で足り|够"
)
_CONTRAST = re.compile(
    r"\b(?:but|though|so|aber|doch|sondern|pero|sino|mais|finalement)\b"
    r"|지만|다가|으나|けど|けれど|が、|やっぱり|但|不过|还是|而是|可是"
)


def drop_plans(phrases: Phrases) -> None:
    """`I planned 200 problems but 80 will do`: what was meant at first counts no more."""
    text = phrases.text.lower()
    counts = [at for at, item in enumerate(phrases.items) if item.number is not None and _is_count(phrases, at)]
    named = {item.value for item in phrases.items if item.kind in ("benchmark", "bench")}
    for first, second in pairwise(counts) if len(named) < 2 else ():
        before, behind = text[: phrases.items[first].start], text[phrases.items[second].end :]
        between = text[phrases.items[first].end : phrases.items[second].start]
        is_planned = bool(_PLANNED.search(before) or _PLANNED.search(between))
        is_enough = bool(_ENOUGH.search(behind))
        is_said = bool(_CONTRAST.search(between)) or (is_planned and is_enough)  # `500, 200 tun es aber auch`
        if is_said and (is_planned or is_enough):
            unit = _unit_of(phrases, first)
            again = [at for at in range(first, second) if phrases.words(at) in _AGAIN]
            _drop(phrases, first, *([] if unit is None or unit > second else [unit]), *again)
    for at in counts if len(counts) > 1 else ():  # `40 rather than 100 questions`
        said = phrases.before(at, most=3)
        if phrases.is_kind(said, "except") and _RATHER.search(phrases.words(said).lower()):
            _drop(phrases, said, at)


_AGAIN = frozenset({"还是", "やっぱり", "やはり"})
"""Words that compare elsewhere, and here say that one thinks again."""
_RATHER = re.compile(r"instead|rather|statt|anstelle|lugar|vez|lieu|plutôt|而不是")


def _is_count(phrases: Phrases, number: int) -> bool:
    """Whether a number counts samples: by its unit, or as nothing else stands beside it."""
    unit, behind = _unit_of(phrases, number), number + 1
    is_other = behind < len(phrases.items) and phrases.items[behind].kind in {*COUNTED, "parallel"}
    return phrases.is_kind(unit, "sample") or (unit is None and not is_other)


def apply_scales(phrases: Phrases) -> float | None:
    """`50 questions, no, double that` is 100; the factor of a plan's own sizes where the query says none before it."""
    for at, item in enumerate(phrases.items):
        if item.kind != "scale":
            continue
        factor = float(Fraction(item.value))
        behind = phrases.after(at, most=2)
        places = [*range(at), *([behind] if behind is not None else [])]  # `twice 20 questions`
        counts = [place for place in places if phrases.items[place].number is not None and _is_count(phrases, place)]
        if not counts:
            return factor
        said = phrases.items[counts[-1]]
        phrases.items[counts[-1]] = replace(said, number=round((said.number or 0) * factor))
        phrases.use(at)
    return None


def apply_suppositions(phrases: Phrases) -> None:
    """`a few minutes, say ten`: the number is of what was said before without one."""
    for at, item in enumerate(phrases.items):
        if item.kind != "suppose":
            continue
        _drop(phrases, at)
        number = phrases.after(at, most=1)
        if number is None or phrases.items[number].number is None or _unit_of(phrases, number) is not None:
            continue
        for earlier in range(at - 1, max(at - 1 - FARTHEST_UNIT, -1), -1):
            if phrases.items[earlier].number is not None:
                break
            if phrases.is_kind(earlier, *UNITS):
                end = phrases.items[number].end
                phrases.items.insert(number + 1, replace(phrases.items[earlier], start=end, end=end))
                _drop(phrases, earlier, *([earlier - 1] if phrases.items[earlier - 1].kind == "effort" else []))
                break


_BEFORE = ("seed", "temperature", "top_p")
"""Words before the number that they are about: `seed 1, sorry, seed 2`."""


def _said_next(phrases: Phrases, at: int) -> int | None:
    for place in range(at + 1, min(at + 1 + FARTHEST, len(phrases.items))):
        if phrases.items[place].kind in ("difference", "unknown"):
            return None
        if phrases.items[place].kind not in (
            "filler",
            "stop",
            "correction",
            "only",
            "atmost",
            "compare",
            "currency",
            *_BEFORE,
        ):
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
