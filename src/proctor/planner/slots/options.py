"""How samples are asked: shots, epochs, temperature, seed, tokens, requests at once."""

from __future__ import annotations

from proctor.domain.errors import UserError
from proctor.planner.phrases import Phrases
from proctor.planner.reading import Reading
from proctor.planner.slots.vary import read_varied

SAMPLING = ("temperature", "top_p", "max_tokens", "reasoning_effort")
SWITCHES: dict[str, bool | int] = {"cache": False, "batch": True, "offline": True, "temperature": 0}
MOST_SHOWN = 10


def read_options(reading: Reading) -> None:
    """Set every option that is said; a UserError where two values of one are."""
    read_varied(reading)
    for name in ("temperature", "top_p", "seed"):
        _read_named(reading, name)
    _read_max_tokens(reading)
    _read_shots(reading)
    _read_epochs(reading)
    _read_concurrency(reading)
    _read_switches(reading)


def set_option(reading: Reading, name: str, value: float | int | str | bool, *places: int) -> None:
    known = reading.options.get(name)
    if known is not None and known != value:
        raise UserError(f"The query says {name.replace('_', ' ')} {known} and {value}: say one.")
    reading.options[name] = value
    reading.phrases.take(_field(name), value, *places)


def _field(name: str) -> str:
    if name in SAMPLING:
        return f"sampling.{name}"
    if name == "concurrency":
        return "limits.concurrency"
    return f"benchmarks.{name}" if name in ("shots", "variant") else name


def _read_named(reading: Reading, name: str) -> None:
    phrases = reading.phrases
    for at in list(phrases.free(name)):
        number = phrases.after(at, most=2)
        if not phrases.is_kind(number, "number"):
            number = phrases.before(at, most=1)
        if not phrases.is_kind(number, "number"):
            continue
        value = phrases.items[number].number or 0
        if name == "seed" and not isinstance(value, int):
            raise UserError(f"The seed {value} is not a whole number.")
        set_option(reading, name, value, *sorted((at, number)))


def _read_max_tokens(reading: Reading) -> None:
    phrases = reading.phrases
    for at in list(phrases.free("maxtoken", "token")):
        is_named = phrases.items[at].kind == "maxtoken"
        sides = (phrases.after(at, most=1), phrases.before(at, most=0))
        number = next((side for side in (sides if is_named else sides[::-1]) if phrases.is_kind(side, "number")), None)
        if number is not None:
            first, last = sorted((at, number))
            set_option(
                reading, "max_tokens", int(phrases.items[number].number or 0), *phrases.absorb(first, last, "atmost")
            )


def _read_shots(reading: Reading) -> None:
    phrases = reading.phrases
    if "shots" in reading.vary:
        return
    few = list(phrases.free("fewshot"))
    for at in list(phrases.free("shots")):
        set_option(reading, "shots", int(phrases.items[at].value), at)
    shown = [at for at in phrases.free("example") if few or _is_shown(phrases, at)]
    for at in [*phrases.free("shot"), *shown]:
        sides = (phrases.before(at, over="counter", most=1), phrases.after(at, most=1))
        number = next((side for side in sides if phrases.is_kind(side, "number")), None)
        if number is not None:
            first, last = sorted((at, number))
            places = phrases.absorb(first, last, "fewshot", "counter", "sample" if number > at else "fewshot")
            set_option(reading, "shots", int(phrases.items[number].number or 0), *sorted({*places, *few}))
            few = []
    for at in few:
        if "shots" in reading.options:
            phrases.use(at)


def _is_shown(phrases: Phrases, at: int) -> bool:
    """`with five examples` are shown with each question; `on 50 examples` are the questions."""
    number = phrases.before(at, most=0)
    if number is None or number == 0 or not phrases.is_kind(number, "number"):
        return False
    is_few = (phrases.items[number].number or 0) <= MOST_SHOWN
    return is_few and phrases.words(number - 1).lower() in ("with", "mit", "con", "avec")


def _read_epochs(reading: Reading) -> None:
    phrases = reading.phrases
    for at in list(phrases.free("epochs")):
        set_option(reading, "epochs", int(phrases.items[at].value), *phrases.absorb(at, at, "each"))
    for at in list(phrases.free("epoch", "times")):
        number = phrases.before(at, most=1)
        if not phrases.is_kind(number, "number") and phrases.items[at].kind == "epoch":
            number = phrases.after(at, most=1)
        if phrases.is_kind(number, "number"):
            count = phrases.items[number].number or 0
            if not isinstance(count, int) or count < 1:
                raise UserError(f"A sample is asked a whole number of times, not {count:g}.")
            first, last = sorted((at, number))
            places = phrases.absorb(first, last, "each")
            set_option(reading, "epochs", count, *_with_each(phrases, places))


def _with_each(phrases: Phrases, places: list[int]) -> list[int]:
    """`each question` before `five times` says what is repeated, not how many questions there are."""
    at = phrases.before(min(places), most=2)
    if at is not None and phrases.is_kind(at, "sample"):
        places = [*places, at]
        each = phrases.before(at, most=1)
        if each is not None and phrases.is_kind(each, "each"):
            places = [*places, each]
    return sorted(places)


def _read_concurrency(reading: Reading) -> None:
    phrases = reading.phrases
    for at in list(phrases.free("parallel")):
        number = phrases.before(at, over="request", most=3)
        if not phrases.is_kind(number, "number"):
            number = phrases.after(at, over="request", most=1)
        if phrases.is_kind(number, "number"):
            first, last = sorted((at, number or 0))
            count = int(phrases.items[number or 0].number or 0)
            set_option(reading, "concurrency", count, *phrases.absorb(first, last, "atmost", "request"))


def _read_switches(reading: Reading) -> None:
    phrases = reading.phrases
    for at in list(phrases.free("flag")):
        name = phrases.items[at].value.partition("=")[0]
        set_option(reading, name, SWITCHES[name], at)
    for at in list(phrases.free("variant")):
        set_option(reading, "variant", phrases.items[at].value, at)
    for at in list(phrases.free("reasoning")):
        set_option(reading, "reasoning_effort", phrases.items[at].value, at)
