"""So many of how many there are: `100 of the 1,319 problems`, `1319문제 중 100문제`, `two out of three questions`."""

from __future__ import annotations

import re

from msgspec.structs import replace

from proctor.planner.phrases import Phrases
from proctor.planner.reading import Reading
from proctor.planner.slots.vary import NAMING
from proctor.planner.slots.versions import EVERY

MAX_PARTS_WRITTEN = 100
SMALL_WHOLE = 20
"""Of so few, the number says a part of all: `two out of three questions`."""
_OF = re.compile(
    r"\s+(?:out of|of|from|von|aus|der|des|sur|parmi|de|entre)"
    r"(?:\s+(?:the|its|all|every|den|ihren|allen|insgesamt|las|los|sus|cada|les|ses|ces))*\s+"
)
_AMONG = re.compile(
    r"\s*(?:문제|문항|개|問|題|件|个|道|道题|题|条|項目)?\s*(?:의)?\s*"
    r"(?:중에?서?|가운데|中の?から?|中|のうち|の内|里|里面|当中|其中)\s*(?:의|的|、|,)?\s*(?:抽|选|取|做|测|挑)?\s*"
)


def merge_wholes(phrases: Phrases) -> None:
    """Keep of two such numbers the part; a part of few is a share."""
    for at in range(len(phrases.items) - 2, -1, -1):
        second = next((n for n in range(at + 1, min(at + 6, len(phrases.items))) if _number(phrases, n)), None)
        if second is None or not _number(phrases, at):
            continue
        between = phrases.text[phrases.items[at].end : phrases.items[second].start].lower()
        unit = phrases.after(second, over="counter", most=1)
        if not phrases.is_kind(unit, "sample"):
            continue
        if _OF.fullmatch(between):
            _keep(phrases, at, second, part=at, whole=second)
        elif _AMONG.fullmatch(between):
            _keep(phrases, at, second, part=second, whole=at)


def _number(phrases: Phrases, at: int) -> int:
    said = phrases.items[at].number
    return said if isinstance(said, int) else 0


def _keep(phrases: Phrases, first: int, last: int, *, part: int, whole: int) -> None:
    few, many = _number(phrases, part), _number(phrases, whole)
    if not 1 < few < many:
        return  # one of so many is read as `every tenth` is
    begins, ends = phrases.items[first], phrases.items[last]
    kept = replace(phrases.items[part], first=begins.first, last=ends.last, start=begins.start, end=ends.end)
    if many <= SMALL_WHOLE:
        kept = replace(kept, meanings=(("fraction", f"{few}/{many}"),), number=None)
    phrases.items[first : last + 1] = [kept]


def merge_written_fractions(phrases: Phrases) -> None:
    """`1/2 of the problems`: a number, a stroke, a number; `10분의 1` has the whole first."""
    at = 0
    while at + 2 < len(phrases.items):
        _merge_fraction(phrases, at)
        at += 1


def _merge_fraction(phrases: Phrases, at: int) -> None:
    first, link, last = phrases.items[at : at + 3]
    if not isinstance(first.number, int) or not isinstance(last.number, int):
        return
    if link.kind == "fractionbar":
        above, below = last.number, first.number
    elif link.value == "/" and last.number <= MAX_PARTS_WRITTEN and not _is_list(phrases, at):
        above, below = first.number, last.number
    else:
        return
    if 0 < above < below:
        meanings = (("fraction", f"{above}/{below}"),)
        phrases.items[at : at + 3] = [replace(first, meanings=meanings, last=last.last, end=last.end, number=None)]


def _is_list(phrases: Phrases, at: int) -> bool:
    """`3/5 shots`, `temperature 0/1`: two values of an option."""
    before, behind = phrases.items[max(0, at - 1) : at], phrases.items[at + 3 : at + 4]
    is_longer = any(item.value == "/" for item in (*before, *behind))
    return (
        is_longer
        or any(item.kind in NAMING for item in before)
        or any(item.kind in ("shot", "epoch", "times") for item in behind)
    )


_NAMED = ("benchmark", "bench")
_ITS_NAME = r"\s*(?:of |von |de |du |des |the |le |la |el |las |los )*"


def read_whole(reading: Reading) -> None:
    """`all of piqa`, `all piqa questions`, `aime24 complete`: the whole of a benchmark, and of which."""
    phrases = reading.phrases
    for at, item in enumerate(phrases.items):
        is_every = item.kind in ("unknown", "each") and at not in phrases.used and phrases.words(at).lower() in EVERY
        if not is_every and item.kind != "allof":
            continue
        behind = next((n for n in range(at + 1, len(phrases.items)) if phrases.items[n].kind != "filler"), None)
        if phrases.is_kind(behind, *_NAMED) and re.fullmatch(
            _ITS_NAME, phrases.text[item.end : phrases.items[behind].start].lower()
        ):
            reading.whole.append(behind)
        elif (
            at > 0
            and phrases.is_kind(at - 1, *_NAMED)
            and (behind is None or phrases.items[at + 1].kind == "stop" or not is_every)
        ):
            reading.whole.append(at - 1)
        else:
            continue
        if is_every:
            reading.wants_all = True
            phrases.use(at)
