"""When a run stops early, and which bars it must reach."""

from __future__ import annotations

import re

from proctor.domain.errors import UserError
from proctor.planner.phrases import Phrases
from proctor.planner.reading import Reading
from proctor.planner.slots.sizes import LARGE_SHARE, is_of_samples

WITHIN = 7
"""How many phrases may stand between `until` and what decides."""
NEAR = 9
"""How many phrases may stand between `fail` and its bar."""


def read_stop_rule(reading: Reading) -> None:
    """Set `until`: when it is decided, or when the interval is narrow enough."""
    phrases = reading.phrases
    for at in list(phrases.free("until")):
        _set_rule(reading, phrases.items[at].value, at)
    for at in list(phrases.free("interval")):
        _use_level(phrases, at)
        for number in phrases.free("number"):
            share = share_at(phrases, number)
            if share is not None and 0 < number - at < NEAR:
                inside = [place for place in range(at, number + 1) if phrases.is_kind(place, "atmost")]
                _set_rule(reading, f"ci<{share[0]:g}", *sorted({at, *inside, *share[1]}))
                break
    _read_decided(reading)


def _use_level(phrases: Phrases, at: int) -> None:
    """`95 % confidence interval`: the share before it is its level, and says nothing of the samples."""
    unit = phrases.before(at, most=1)
    number = phrases.before(unit, most=0) if phrases.is_kind(unit, "percent") else None
    if unit is not None and phrases.is_kind(number, "number") and (phrases.items[number].number or 0) >= 50:
        phrases.use(number, unit)


def _read_decided(reading: Reading) -> None:
    """`until we know who wins`, `差が出るまで`: a word for the end beside one for a decision, in either order."""
    phrases = reading.phrases
    between = ("filler", "unknown", "stop", "modelword", "compare", "decides", "interval", "untilword", "see")
    weak = [at for at, item in enumerate(phrases.items) if item.means("weakuntil") is not None]
    for at in [*phrases.free("untilword"), *weak]:
        is_behind = phrases.language != "zh" or phrases.words(at) == "为止"
        step = -1 if phrases.text[phrases.items[at].start] >= "\u3000" and is_behind else 1
        place, decides, is_beyond = at + step, None, False
        while 0 <= place < len(phrases.items) and abs(place - at) <= WITHIN:
            if phrases.items[place].kind not in between and phrases.items[place].number != 1:  # `hasta que uno gane`
                break
            kind = phrases.items[place].kind
            is_beyond = is_beyond or kind == "stop"
            if kind == "interval" or (step < 0 and is_beyond):
                break
            is_told = kind == "decides" or (kind == "compare" and not is_beyond and at not in weak)
            if is_told and place not in phrases.used:
                decides = place
            place += step
        if decides is not None and reading.until is None:
            _set_rule(reading, "decided", *range(min(at, decides), max(at, decides) + 1))


def _set_rule(reading: Reading, rule: str, *places: int) -> None:
    if reading.until is not None and reading.until != rule:
        raise UserError(f"The query names two stop rules, {reading.until} and {rule}: say one.")
    reading.until = rule
    reading.phrases.take("until", rule, *places)


def read_gates(reading: Reading) -> None:
    """Set the bars of `fail below 80 %`: a plan cannot hold them, a run is given them."""
    phrases = reading.phrases
    _read_bars(reading)
    for at in list(phrases.free("gate")):
        near = sorted(phrases.free("number"), key=lambda number: (_is_beyond(phrases, at, number), abs(number - at)))
        near.sort(key=lambda number: not _is_bounded(phrases, at, number))
        for number in near:
            share = share_at(phrases, number, is_bar=True)
            if share is None or abs(number - at) > NEAR or is_of_samples(phrases, share[1][-1]):
                continue
            bar, places = share
            known = reading.gates.get("accuracy")
            if known is not None and known != bar:
                raise UserError(f"The query names two bars, {known:g} and {bar:g}: say one.")
            reading.gates["accuracy"] = bar
            said = [
                place
                for place in range(max(0, min(at, number) - 2), min(len(phrases.items), max(at, number) + 4))
                if phrases.items[place].kind in ("metric", "atmost", "atleast", "gatebelow", "gate")
                and place not in phrases.used
            ]
            phrases.take("fail_under.accuracy", bar, *sorted({at, *places, *said}))
            break
    _read_obligations(reading)
    _read_bars_beside_counts(reading)
    if reading.gates.get("accuracy", 0) > 1:
        raise UserError(f"No run reaches {reading.gates['accuracy']:.0%}: say a bar between 0 and 100 %.")
    for number in list(phrases.free("number")):  # the same bar said once more
        share = share_at(phrases, number, is_bar=True)
        before = phrases.before(number, most=1)
        if reading.gates and share and share[0] in reading.gates.values() and phrases.is_kind(before, "atmost"):
            phrases.take("fail_under.accuracy", share[0], *sorted({before or number, *share[1]}))


def _is_bounded(phrases: Phrases, gate: int, number: int) -> bool:
    """`低于80%算失败，两成`: whether a word for a bound stands beside a number in the clause of a gate."""
    beside = phrases.items[max(0, number - 1) : number] + phrases.items[number + 1 : number + 3]
    is_bound = any(item.kind in ("gatebelow", "atmost", "atleast") for item in beside)
    return is_bound and not _is_beyond(phrases, gate, number)


def _is_beyond(phrases: Phrases, first: int, second: int) -> bool:
    """Whether a clause ends between two places."""
    return any(item.kind == "stop" for item in phrases.items[min(first, second) + 1 : max(first, second)])


_MUST = re.compile(r"\b(?:must|has to|have to|needs to|need to|should|muss|müssen|soll|sollte|debe|tiene que|doit)\b")
_REACH = re.compile(
    r"\b(?:reach|get|score|achieve|hit|schaffen|erreichen|erzielen|kommen|holen|bringen|alcanzar|sacar|lograr|llegar|obtener|acertar"
    r"|atteindre|obtenir|faire|avoir|dépasser|superar)\b"
)


def _read_obligations(reading: Reading) -> None:
    """`sonnet muss auf arc-easy 90 % schaffen`: a share that must be reached, with other words between."""
    phrases = reading.phrases
    for number in list(phrases.free("number")):
        share = share_at(phrases, number, is_bar=True)
        if reading.gates or share is None or is_of_samples(phrases, share[1][-1]):
            continue
        near = phrases.clause(number, breaks=lambda item: item.kind == "stop")
        said = phrases.text[phrases.items[near[0]].start : phrases.items[near[-1]].end].lower()
        if _MUST.search(said) and _REACH.search(said):
            reading.gates["accuracy"] = share[0]
            phrases.take("fail_under.accuracy", share[0], *share[1])


def _read_bars_beside_counts(reading: Reading) -> None:
    """`100 questions … worse than 90 %`: beside a count of samples, a large share with a bound is a bar."""
    phrases = reading.phrases
    counted = any(phrases.is_kind(phrases.after(at, over="counter", most=2), "sample") for at in phrases.free("number"))
    for number in list(phrases.free("number")) if counted and not reading.gates else ():
        share = share_at(phrases, number, is_bar=True)
        is_percent = share is not None and phrases.is_kind(share[1][-1], "percent", "points")
        if share is None or not is_percent or share[0] < LARGE_SHARE or is_of_samples(phrases, share[1][-1]):
            continue
        bounds = [
            at for at in _clause(phrases, number, 4) if phrases.is_kind(at, "atmost", "atleast", "gatebelow", "compare")
        ]
        if bounds:
            reading.gates["accuracy"] = share[0]
            phrases.take("fail_under.accuracy", share[0], *sorted({*share[1], *bounds}))
            return


def _read_bars(reading: Reading) -> None:
    """`at least 75 % accuracy`, `accuracy >= 0.8`: a share beside what is measured, with a word for a bar."""
    phrases = reading.phrases
    for number in list(phrases.free("number")):
        share = share_at(phrases, number, is_bar=True)
        if share is None or is_of_samples(phrases, share[1][-1]):
            continue
        near = _clause(phrases, number, 4)
        metrics = [place for place in near if phrases.items[place].kind == "metric"]
        bars = [place for place in near if phrases.items[place].kind in ("atleast", "gatebelow", "atmost")]
        is_least = phrases.is_kind(phrases.before(number, most=2), "atleast")
        is_meant = (metrics and bars) or (is_least and phrases.is_kind(share[1][-1], "percent"))
        if is_meant and "accuracy" not in reading.gates:
            reading.gates["accuracy"] = share[0]
            gates = list(phrases.free("gate"))
            phrases.take("fail_under.accuracy", share[0], *sorted({*share[1], *metrics, *bars, *gates}))


def _clause(phrases: Phrases, at: int, most: int) -> list[int]:
    """The places around one, up to the end of the clause or to another number."""
    found = []
    for step in (-1, 1):
        place = at + step
        while 0 <= place < len(phrases.items) and abs(place - at) <= most and place not in phrases.used:
            if phrases.items[place].kind in ("stop", "number", "model", "family", "budget"):
                break
            found.append(place)
            place += step
    return found


def share_at(phrases: Phrases, number: int, *, is_bar: bool = False) -> tuple[float, list[int]] | None:
    """A number that is a share: percent, points, or between 0 and 1."""
    value = phrases.items[number].number or 0
    unit = phrases.after(number, most=1)
    if phrases.is_kind(unit, "percent", "points"):
        return phrases.share(number, unit), [number, unit]
    if phrases.is_kind(unit, "currency", "minutes") or phrases.is_kind(
        phrases.before(number, most=0), "currency", "temperature", "top_p", "seed"
    ):
        return None
    is_share = isinstance(value, float) and 0 < value <= 1
    return (value, [number]) if is_share and (is_bar or unit is None or value < 1) else None
