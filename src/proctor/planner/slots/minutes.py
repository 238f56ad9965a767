"""Time: `within ten minutes`, `an hour and a half`, `eine halbe Stunde`, `10분 안에`."""

from __future__ import annotations

from fractions import Fraction

from proctor.domain.errors import UserError
from proctor.planner.amounts import amount_at, is_joined
from proctor.planner.reading import Reading


def read_minutes(reading: Reading) -> None:
    """Set the time limit; a UserError for two of them."""
    phrases = reading.phrases
    found: list[tuple[float, float, list[int]]] = []
    for at in list(phrases.free("minutes", "seconds", "duration")):
        item = phrases.items[at]
        factor = 1 / 60 if item.kind == "seconds" else int(item.value)
        number = phrases.before(at, most=0) if item.kind != "duration" else None
        if item.kind != "duration" and not phrases.is_kind(number, "number", "fraction"):
            number = phrases.before(at, most=2)
        if phrases.is_kind(number, "fraction"):
            count: float | None = float(Fraction(phrases.items[number].value))
        elif item.kind == "duration":
            number, count = None, 1
        else:
            number = number if phrases.is_kind(number, "number") and number == phrases.before(at, most=0) else None
            # `wait a second` limits nothing.
            count = None if number is None and item.kind == "seconds" else amount_at(phrases, at, number)
        if count is None:
            continue
        places = [at] if number is None else [number, at]
        if found and factor < found[-1][1] and is_joined(phrases, found[-1][2][-1], places[0]):
            found[-1] = (found[-1][0] + count * factor, factor, [*found[-1][2], *places])
        else:
            found.append((count * factor, factor, places))
        phrases.use(*places)
    for value, unit, places in found:
        _set(reading, *_with_minutes(reading, value, unit, places))


def _with_minutes(reading: Reading, value: float, unit: float, places: list[int]) -> tuple[float, list[int]]:
    """`1h30`, `2 h 15`: a number right behind the hours."""
    phrases, last = reading.phrases, places[-1]
    number = last + 1
    if unit != 60 or not phrases.is_kind(number if number < len(phrases.items) else None, "number"):
        return value, places
    item = phrases.items[number]
    is_written = phrases.text[item.start : item.end].isdigit() and item.start - phrases.items[last].end <= 1
    if phrases.language == "zh" and phrases.text[item.end : item.end + 1] == "分" and 0 < (item.number or 0) < 60:
        return value + (item.number or 0), [*places, number, number + 1]  # `1小时30分`
    ends = number + 1 == len(phrases.items) or phrases.items[number + 1].kind in ("stop", "atmost")
    is_near = item.start == phrases.items[last].end or ends
    if (
        not (is_written and is_near and 0 < (item.number or 0) < 60)
        or phrases.text[phrases.items[last].start] not in "hH"
    ):
        return value, places
    return value + (item.number or 0), [*places, number]


def _set(reading: Reading, value: float, places: list[int]) -> None:
    value = int(value) if float(value).is_integer() else round(value, 4)
    if not value > 0:
        raise UserError("A limit of 0 minutes leaves no time to ask anything.")
    if reading.minutes is not None and reading.minutes != value:
        raise UserError(f"The query names two time limits, {reading.minutes:g} and {value:g} minutes: say one.")
    reading.minutes = value
    phrases = reading.phrases
    around = phrases.absorb(min(places), max(places), "atmost", "budget", "total", "timeword")
    phrases.take("limits.minutes", value, *sorted({*places, *around}))
