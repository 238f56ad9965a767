"""How many samples: `100 questions`, `10 %`, `a quick look`, `enough to see 3 points`."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Literal

from msgspec.structs import replace

from proctor.domain.errors import UserError
from proctor.planner.phrases import Phrases
from proctor.planner.reading import Reading, Size
from proctor.planner.slots.vary import JOINS

QUICK = 20
WINDOW = 60
"""So many letters before a difference may say `so many questions that`."""
LARGE_SHARE = 0.5
"""Beside a count of samples, a share from here on says how good or how sure, not how many."""
FARTHEST_POINTS = 9
"""How many phrases may stand between `see` and the difference that is to be seen."""
ALL_BUT = r"(?:all|everything) but|alles au(?:ß|ss)er|tout sauf|todo menos"
DESCRIBING = ("benchmark", "bench", "softname", "subject", "group", "language", "category")
BARE_FROM = 5
"""A number without a unit is a count of samples from here on; smaller ones are asked about."""


def read_points(reading: Reading) -> None:
    """`enough to see 3 points`: read before anything else takes the number."""
    phrases = reading.phrases
    for at in list(phrases.free("see")):
        near = [n for n in phrases.free("number") if abs(n - at) <= FARTHEST_POINTS]
        for number in sorted(near, key=lambda n: abs(n - at)):
            unit = phrases.after(number, most=0)
            if phrases.is_kind(unit, "points") or (
                phrases.is_kind(unit, "percent") and _is_seen(phrases, at, number, unit)
            ):
                points = phrases.items[number].number or 0
                if not 0 < points < 100:
                    raise UserError(f"A difference of {points:g} points cannot be seen: say one between 0 and 100.")
                reading.sizes.append(Size("points", points, number))
                phrases.use(at, number, unit)
                break


_DIFFERENCE = re.compile(
    r"differen|unterschied|abstand|apart|gap|diferencia|écart|différence|差|차이|enough|so many|so viele|genug|genügend"
    r"|suficient|assez|suffisamment|충분|만큼|足够|足以"
)


def _is_seen(phrases: Phrases, see: int, number: int, percent: int) -> bool:
    """`to detect 3 %`; in `I'd like to see how haiku does on mmlu, 10 %` the share is one of the samples."""
    between = phrases.items[min(see, number) + 1 : max(see, number)]
    is_near = all(item.kind in ("filler", "difference", "unknown", "effort", "points") for item in between)
    begins, ends = phrases.items[min(see, number)].start, phrases.items[percent].end
    said = phrases.text[max(0, begins - WINDOW) : ends + WINDOW].lower()
    return not is_of_samples(phrases, percent) and (is_near or bool(_DIFFERENCE.search(said)))


def read_difference(reading: Reading) -> None:
    """`so many questions that 4 points of difference show`: points of a difference, with no word for seeing."""
    phrases = reading.phrases
    if any(item.kind in ("until", "untilword", "interval", "gate") for item in phrases.items) or reading.sizes:
        return
    for number in list(phrases.free("number")):
        unit = phrases.after(number, most=0)
        clause = phrases.clause(number, breaks=lambda item: item.kind == "stop")
        begin = max(0, phrases.items[number].start - WINDOW)
        said = phrases.text[begin : phrases.items[clause[-1]].end].lower()
        points = phrases.items[number].number or 0
        if phrases.is_kind(unit, "points") and _DIFFERENCE.search(said) and 0 < points < 100:
            reading.sizes.append(Size("points", points, number))
            phrases.use(number, unit, *(at for at in clause if phrases.items[at].kind == "see"))
            return


def read_sizes(reading: Reading) -> None:
    """Every size that is said, where it is said."""
    phrases = reading.phrases
    read_one_in(reading)
    for at in list(phrases.free("percent")):
        number = phrases.before(at, most=0)
        if phrases.is_kind(number, "number") and not _is_beside_a_count(phrases, number, at):
            _add_share(reading, phrases.share(number, at), number, at)
        elif re.search(_A_PERCENT, phrases.text[: phrases.items[at].start].lower()):
            _add_share(reading, 0.01, at, at)
    for at in list(phrases.free("percentprefix")):
        number = phrases.after(at, most=0)
        if phrases.is_kind(number, "number"):
            _add_share(reading, (phrases.items[number or 0].number or 0) / 100, at, number or 0)
    for at in list(phrases.free("fraction")):
        part = float(Fraction(phrases.items[at].value))
        number = phrases.after(at, most=1)
        if phrases.is_kind(number, "number") and (phrases.items[number].number or 0) >= 10:  # half a dozen
            count = part * float(phrases.items[number].number or 0)
            phrases.items[number] = replace(phrases.items[number], number=round(count))
            phrases.use(at)
            continue
        _add_share(reading, part, at, at)
    for number in list(phrases.free("number")):  # `0.5 of mbpp`
        value, follows = phrases.items[number].number or 0, phrases.text[phrases.items[number].end :]
        if isinstance(value, float) and 0 < value < 1 and re.match(r"\s+(?:of|von|de|der|du|des)\b", follows):
            _add_share(reading, value, number, number)
    for at in list(phrases.free("number")):
        if not _is_measured(phrases, at):
            _read_count(reading, at)
    _read_distant_total(reading)


_A_PERCENT = r"(?:^|[\s(])(?:a|einem|ein|un|le|el) $"
"""`un pour cent`, `mit einem Prozent`."""
_GROUPED = re.compile(r"[1-9]\d{0,2}\.\d{3}")


def read_each(reading: Reading) -> None:
    """Set of each what a size is said: `20 per language`, `20 each`, wherever the word stands."""
    phrases = reading.phrases
    words = [item for item in phrases.items if item.means("each") is not None]
    if len(reading.sizes) != 1 or not words or reading.sizes[0].is_total:
        return
    said = next((value for item in words if (value := item.means("part"))), None)
    each: Literal["any", "language", "category"] = (
        "language" if said == "language" else "category" if said == "category" else "any"
    )
    reading.sizes[0] = replace(reading.sizes[0], each=each)


def _is_of_money(phrases: Phrases, total: int) -> bool:
    """`el coste total no debe superar 12 dólares` says nothing of samples."""
    beside = [at for at in (total - 2, total - 1, total + 1, total + 2) if 0 <= at < len(phrases.items)]
    return any(phrases.is_kind(at, "budget", "currency") for at in beside)


def _is_beside_a_count(phrases: Phrases, number: int, percent: int) -> bool:
    """`200 questions, I want to be 95 % sure`: where samples are counted, a large share of nothing is no size."""
    near = phrases.clause(percent, breaks=lambda item: item.kind == "stop")
    if _SURE.search(phrases.text[phrases.items[near[0]].start : phrases.items[near[-1]].end].lower()):
        return True
    if phrases.share(number, percent) < LARGE_SHARE or is_of_samples(phrases, percent):
        return False
    counts = (
        at for at in phrases.free("number") if phrases.is_kind(phrases.after(at, over="counter", most=2), "sample")
    )
    return any(at != number for at in counts)


_SURE = re.compile(
    r"confiden|significan|signifikan|konfiden|vertrauens|confianza|confiance|alpha|statistical power"
    r"|신뢰|유의|信頼|有意|置信|显著"
)
"""`a level of significance of 5 %`: how sure, and never how many."""


def is_of_samples(phrases: Phrases, last: int) -> bool:
    """`10 % of the questions` and `at least 10 % of mmlu` say how many, and are no bar."""
    follows = phrases.after(last, most=3)
    if follows is None or not phrases.is_kind(follows, "sample", "benchmark", "bench", "only"):
        return False
    between = phrases.text[phrases.items[last].end : phrases.items[follows].start].lower().split()
    return not between or between[0] in ("of", "der", "von", "des", "aus", "de", "del", "du", "las", "los")


def read_efforts(reading: Reading) -> None:
    """`a quick look`: a size where no number says one."""
    for at in list(reading.phrases.free("effort")):
        unit = reading.phrases.after(at, most=0)
        if _is_other_unit(reading.phrases, unit) and at + 1 == unit:
            continue  # `a few minutes`
        if not reading.sizes:
            reading.sizes.append(Size("quick", QUICK, at))
        reading.phrases.use(at)


def read_one_in(reading: Reading) -> None:
    """`1 in 20 of mmlu`, `jede 20. Frage`, `20문제 중 하나`, `20問に1問`: a share."""
    phrases = reading.phrases
    for at in list(phrases.free("number")):
        of, item = phrases.items[at].number or 0, phrases.items[at]
        if not isinstance(of, int) or of < 2 or at in phrases.used:
            continue
        before, behind = phrases.text[: item.start].lower(), phrases.text[item.end :].lower()
        first, last = at, at
        if (found := _ONE_OF.search(before)) or ((found := _EACH.search(before)) and _ORDINAL.match(behind)):
            ordinal = _ORDINAL.match(behind)
            end = item.end + (ordinal.end() if ordinal else 0)
            first = next(place for place, one in enumerate(phrases.items) if one.end > found.start())
            last = max(place for place, one in enumerate(phrases.items) if one.start < end)
        elif found := _OF_WHOLE.match(behind):
            last = max(place for place, one in enumerate(phrases.items) if one.start < item.end + found.end())
        else:
            continue
        phrases.use(*range(first, last + 1))
        _add_share(reading, 1 / of, first, last)


_ONE_OF = re.compile(
    r"(?<![\w.])(?:1|one|eine[rs]?|una?|uno|une)\s+(?:(?:question|problem|frage|aufgabe|pregunta|problème|problema)e?\s+)?"
    r"(?:in|out of|in every|out of every|of every|von|aus|de cada|sur)\s+$"
)
_EACH = re.compile(r"(?:every|each|jede[rs]?)\s+$")
_ORDINAL = re.compile(r"(?:th|st|nd|rd)\b|\.(?=\s+(?:frage|aufgabe|problem))")
_OF_WHOLE = re.compile(
    r"\s*(?:문제|문항|개|건)?\s*(?:중에?서?|마다|당|에)\s*(?:하나|(?:한|1)\s*(?:문제|문항|개|건))씩?"
    r"|\s*問?(?:に|中|ごとに|につき)\s*[1一]\s*問|\s*[题道]?题?(?:里|中|当中)?(?:抽|选|取|做|测)[1一][题道]题?"
)


def _read_distant_total(reading: Reading) -> None:
    """`60 questions of gsm8k and svamp in total`: the word stands at the end of the clause."""
    phrases = reading.phrases
    places = [at for at in phrases.free("total") if not _is_of_money(phrases, at)]
    # `mgsm, split German, 50 questions`: the word divides what was said before it.
    places = [at for at in places if phrases.words(at).lower() != "split" or any(s.at < at for s in reading.sizes)]
    if places and len(reading.sizes) == 1 and reading.sizes[0].kind == "count":
        reading.sizes[0] = replace(reading.sizes[0], is_total=True)
        phrases.use(*places)


def _add_share(reading: Reading, share: float, first: int, last: int) -> None:
    if not 0 < share <= 1:
        raise UserError(f"{share * 100:g} % of the samples cannot be asked: say between 0 and 100 %.")
    before = reading.phrases.before(first, most=0)
    if reading.phrases.is_kind(before, "except") and re.match(ALL_BUT, reading.phrases.words(before).lower()):
        share = round(1 - share, 6)  # `all but 10 %`
        reading.phrases.use(before)
    if share < 1:
        reading.sizes.append(Size("share", share, first))
    phrases = reading.phrases
    places = phrases.absorb(first, last, "sample", "only", "atmost", "each")
    # `50 questions and 10 %` are two sizes.
    phrases.use(*(at for at in places if at >= first or not at or phrases.items[at - 1].number is None))


def _read_count(reading: Reading, at: int) -> None:
    phrases = reading.phrases
    count, unit = phrases.items[at].number or 0, phrases.after(at, over="counter", most=2)
    is_colon = at > 1 and phrases.items[at - 1].value in (":", "=")
    before = phrases.before(at - is_colon, most=2)
    is_before = phrases.is_kind(before, "sample") and at - before <= 2 and not _is_other_unit(phrases, unit)
    named = at + 1
    while named < len(phrases.items) and named - at <= 2 and phrases.items[named].kind in DESCRIBING:
        named += 1
    behind = named if at + 1 < named < len(phrases.items) and named not in phrases.used else None
    if phrases.is_kind(unit, "sample", "example") and unit - at <= 3:
        first, last = at, unit
    elif phrases.is_kind(behind, "sample"):  # `100 gsm8k questions`
        first, last = at, at
        phrases.use(behind)
    elif phrases.is_kind(before, "limit") or is_before:
        first, last = before or 0, at
    elif phrases.is_kind(unit, "each", "total", "only"):
        first, last = at, at
    else:
        return
    if not isinstance(count, int) and _GROUPED.fullmatch(phrases.words(at)):
        count = round(count * 1000)  # `1.000 questions`: no part of a sample can be asked
    if not isinstance(count, int):
        raise UserError(f"{count:g} samples cannot be asked: say a whole number, or a share in percent.")
    if count < 1:
        raise UserError(f"{count} samples measure nothing: say at least 1.")
    places = phrases.absorb(first, last, "only", "atmost", "each", "total", "limit", "counter", "sample", "allof")
    # `but only 20 of them` says another size.
    places = [
        place for place in places if not (place > last and phrases.is_kind(place, "only") and _counts(phrases, place))
    ]
    is_total = any(phrases.items[place].kind == "total" for place in places)
    reading.sizes.append(Size("count", count, at, is_total))
    phrases.use(*places)


def _counts(phrases: Phrases, only: int) -> bool:
    following = only + 1
    return following < len(phrases.items) and phrases.items[following].number is not None


def _is_other_unit(phrases: Phrases, unit: int | None) -> bool:
    return phrases.is_kind(unit, "currency", "minutes", "seconds", "percent", "points", "times", "epoch", "token")


_MEASURE = re.compile(
    r"[\s-]*(?:(?:ms|msecs?|milli\w+|milisegundos?|[kmgt]i?b|[kmgt]bytes?|(?:kilo|mega|giga|tera)\w+|[kmg]?hz)\b"
    r"|ミリ秒|毫秒|밀리초|기가|메가|ギガ|メガ)",
    re.IGNORECASE,
)


def _is_measured(phrases: Phrases, number: int) -> bool:
    """`500 ms`, `8 GB`: measured, never counted."""
    return bool(_MEASURE.match(phrases.text, phrases.items[number].end))


def read_bare_numbers(reading: Reading) -> None:
    """What is left when everything else has taken its numbers: `hellaswag haiku 100`."""
    phrases = reading.phrases
    for at in list(phrases.free("number")):
        item = phrases.items[at]
        if not isinstance(item.number, int) or item.number < BARE_FROM or not item.can_stand:
            continue
        if _is_measured(phrases, at):
            continue
        before = phrases.before(at, most=0)
        if phrases.is_kind(before, "except") and phrases.words(before).lower() in ("not", "nicht", "no", "pas"):
            phrases.use(at, before)  # `opus 4.8 (not 5!)`
            continue
        if phrases.is_kind(phrases.after(at, most=0), "points"):
            continue  # points are never samples
        places = phrases.absorb(at, at, "each", "only", "total", "atmost")
        is_joined = at + 2 < len(phrases.items) and phrases.words(at + 1).lower() in JOINS
        is_joined = is_joined and any(size.at == at + 2 and size.has_unit for size in reading.sizes)
        is_meant = is_joined or any(phrases.is_kind(place, "only", "each", "total") for place in places)
        ends = phrases.items[at + 1].kind in ("stop", "atmost") if at + 1 < len(phrases.items) else True
        is_meant = is_meant or (ends and any(phrases.is_kind(place, "atmost") for place in places))  # `40 at most`
        is_total = any(phrases.is_kind(place, "total") for place in places)
        reading.sizes.append(Size("count", item.number, at, is_total, has_unit=is_meant))
        phrases.use(*places)
