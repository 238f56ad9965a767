"""Time: `within ten minutes`, `eine halbe Stunde`, `10분 안에`."""

from __future__ import annotations

from proctor.domain.errors import UserError
from proctor.planner.reading import Reading


def read_minutes(reading: Reading) -> None:
    """Set the time limit; a UserError for two of them."""
    phrases = reading.phrases
    for at in list(phrases.free("minutes", "seconds")):
        number = phrases.before(at, most=0)
        if number is None or not phrases.is_kind(number, "number"):
            continue
        factor = int(phrases.items[at].value) if phrases.items[at].kind == "minutes" else 1 / 60
        count = phrases.items[number].number or 0
        _set(reading, count * factor, number, at)
    for at in list(phrases.free("duration")):
        _set(reading, int(phrases.items[at].value), at, at)


def _set(reading: Reading, value: float, first: int, last: int) -> None:
    value = int(value) if float(value).is_integer() else round(value, 4)
    if not value > 0:
        raise UserError("A limit of 0 minutes leaves no time to ask anything.")
    if reading.minutes is not None and reading.minutes != value:
        raise UserError(f"The query names two time limits, {reading.minutes:g} and {value:g} minutes: say one.")
    reading.minutes = value
    phrases = reading.phrases
    phrases.take("limits.minutes", value, *phrases.absorb(first, last, "atmost", "budget", "total"))
