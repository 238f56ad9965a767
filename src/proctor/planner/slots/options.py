"""How samples are asked: shots, epochs, temperature, seed, tokens, requests at once."""

from __future__ import annotations

import re

from msgspec.structs import replace

from proctor.domain.errors import UserError
from proctor.planner.phrases import Phrases
from proctor.planner.reading import Reading, Size
from proctor.planner.slots.vary import read_varied

SAMPLING = ("temperature", "top_p", "max_tokens", "reasoning_effort")
SWITCHES: dict[str, bool | int] = {"cache": False, "batch": True, "offline": True, "temperature": 0}
MAX_SHOWN = 10
MAX_SHOTS = 64
WITHOUT = (
    r"\b(?:don't|do not|not?|never|without|skip|ignore|disable|avoid|ohne|nicht|kein\w*|sin|sans|pas)\b"
    r"(?:\s+\w+){0,3}\s*$"
)
OFF = (
    r"(?:\s+\w+){0,2}?\s*(?:off|disabled|aus|deaktiviert|abgeschaltet|desactivad[oa]|apagad[oa]|désactivée?"
    r"|は?(?:オフ|無効|切)|끄|꺼|关)"
)
HOTTEST = 2.0
MANY_TIMES = 20
"""Behind a sign for times, so many are rather samples than repetitions."""


def read_options(reading: Reading) -> None:
    """Set every option that is said; a UserError where two values of one are."""
    _read_sample_shots(reading)
    read_varied(reading)
    for name in ("temperature", "top_p", "seed"):
        _read_named(reading, name)
    _read_max_tokens(reading)
    _read_shots(reading)
    _read_epochs(reading)
    _read_concurrency(reading)
    _read_switches(reading)


def _read_sample_shots(reading: Reading) -> None:
    """`零样本和5样本`: beside its word for zero-shot, the Chinese word for samples counts examples."""
    phrases = reading.phrases
    if phrases.language != "zh" or not re.search(r"零样本|少样本|小样本|单样本", phrases.text):
        return
    for at, item in enumerate(phrases.items):
        is_counted = at > 0 and phrases.is_kind(at - 1, "number")
        is_few = is_counted and (phrases.items[at - 1].number or 0) <= MAX_SHOWN
        if is_few and phrases.text[item.start : item.end] in ("样本", "个样本"):
            phrases.items[at] = replace(item, meanings=(("shot", ""),))


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
        number = phrases.after(at + _is_colon(phrases, at), most=3)
        if not phrases.is_kind(number, "number"):
            number = phrases.before(at, most=1)
        if not phrases.is_kind(number, "number"):
            continue
        value = phrases.items[number].number or 0
        if name == "seed" and not isinstance(value, int):
            raise UserError(f"The seed {value} is not a whole number.")
        if name == "temperature" and value > HOTTEST:
            raise UserError(f"The temperature {value:g} is above {HOTTEST:g}, the most that a model takes.")
        if name == "top_p" and value > 1:
            raise UserError(f"A top_p of {value:g} is above 1.")
        set_option(reading, name, value, *sorted((at, number)))


def _is_colon(phrases: Phrases, at: int) -> bool:
    return at + 1 < len(phrases.items) and phrases.items[at + 1].value == ":"


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
    said: list[tuple[int, list[int]]] = [(int(phrases.items[at].value), [at]) for at in phrases.free("shots")]
    for _, places in said:
        phrases.use(*places)
    asked = any(
        phrases.items[at].number is not None and phrases.items[at + 1].kind == "sample"
        for at in range(len(phrases.items) - 1)
    )
    shown = [at for at in phrases.free("example") if few or _is_shown(phrases, at, is_other=asked)]
    for at in [*phrases.free("shot"), *shown]:
        sides = (phrases.before(at, over="counter", most=1), phrases.after(at, most=1))
        number = next((side for side in sides if phrases.is_kind(side, "number")), None)
        if number is not None:
            first, last = sorted((at, number))
            places = phrases.absorb(first, last, "fewshot", "counter", "sample" if number > at else "fewshot")
            said.append((int(phrases.items[number].number or 0), sorted({*places, *few})))
            phrases.use(*places)
            few = []
    said += _few_alone(reading, few)
    values = list(dict.fromkeys(value for value, _ in sorted(said, key=lambda one: one[1])))
    if len(values) > 1:  # `once without examples and once with five`
        reading.vary["shots"] = list(values)
        phrases.take("matrix.shots", list(values), *sorted(place for _, places in said for place in places))
    for value, places in said if len(values) == 1 else ():
        set_option(reading, "shots", value, *places)


def _few_alone(reading: Reading, few: list[int]) -> list[tuple[int, list[int]]]:
    """`few-shot (5)`, `few-shot k=5`: the number stands behind, with nothing of its own to count."""
    phrases = reading.phrases
    for at in few:
        number = phrases.after(at, over="epoch", most=4, stops=False)
        if phrases.is_kind(number, "number") and 0 < (phrases.items[number].number or 0) <= MAX_SHOTS:
            between = phrases.text[phrases.items[at].end : phrases.items[number].start].strip()
            if re.fullmatch(r"\(|:|=|k ?=|\(k ?=|mit|with|n ?=", between):
                phrases.use(*range(at, number + 1))
                return [(int(phrases.items[number].number or 0), [at, number])]
    return []


def _is_shown(phrases: Phrases, at: int, *, is_other: bool) -> bool:
    """`with five examples`, `five examples and 100 questions`: shown with each question; `on 50 examples` are those."""
    number = phrases.before(at, over="counter", most=1)
    if is_other and not phrases.is_kind(number, "number"):
        number = phrases.after(at, most=1)
    if number is None or (number == 0 and not is_other) or not phrases.is_kind(number, "number"):
        return False
    is_few = (phrases.items[number].number or 0) <= MAX_SHOWN
    return is_few and (is_other or phrases.words(number - 1).lower() in ("with", "mit", "con", "avec"))


def _read_epochs(reading: Reading) -> None:
    phrases = reading.phrases
    for at in list(phrases.free("epochs")):
        set_option(reading, "epochs", int(phrases.items[at].value), *phrases.absorb(at, at, "each"))
    soft = [at for at in phrases.free("filler") if phrases.items[at].means("epochsoft") is not None]
    for at in [at for at in soft if at and phrases.is_kind(at - 1, "number") and at - 1 not in phrases.used]:
        phrases.items[at] = replace(phrases.items[at], meanings=(("epoch", ""),))  # `3 runs`
    for at in list(phrases.free("epoch", "times")):
        number = phrases.before(at, most=1)
        if (
            at + 1 < len(phrases.items)
            and phrases.items[at].end == phrases.items[at + 1].start
            and phrases.text[phrases.items[at].start] in "xX×"
        ):
            number = phrases.after(at, most=0)  # `x3`
        if not phrases.is_kind(number, "number") and phrases.items[at].kind == "epoch":
            number = phrases.after(at + _is_colon(phrases, at), most=2)
            follows = phrases.after(number, over="counter", most=1) if phrases.is_kind(number, "number") else None
            number = None if phrases.is_kind(follows, "sample", "currency", "minutes", "percent") else number
        if phrases.is_kind(number, "number"):
            count = phrases.items[number].number or 0
            if count >= MANY_TIMES and phrases.words(at).lower() in ("x", "×", "x "):
                reading.sizes.append(Size("count", int(count), number))  # `gsm8k x 50` is no repetition
                phrases.use(at, number)
                continue
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
        is_named = number is not None and phrases.is_kind(phrases.before(number, most=1, stops=False), "limit", "seed")
        if not phrases.is_kind(number, "number") or is_named:
            number = phrases.after(at, over="request", most=1)
        if phrases.is_kind(number, "number"):
            first, last = sorted((at, number or 0))
            count = int(phrases.items[number or 0].number or 0)
            set_option(reading, "concurrency", count, *phrases.absorb(first, last, "atmost", "request"))


def _read_without_reasoning(phrases: Phrases) -> None:
    """`no chain of thought`, `CoT 없이`: what is left out of how answers are given is the direct variant."""
    for at in list(phrases.free("variant")):
        sides = ((phrases.before(at, most=1), "except"), (phrases.after(at, most=1), "suffixexcept"))
        place = next((side for side, kind in sides if phrases.is_kind(side, kind)), None)
        if place is None and at + 1 < len(phrases.items) and phrases.words(at + 1).lower() in ("no", "nein", "non"):
            place = at + 1
        if phrases.items[at].value == "cot" and place is not None:
            phrases.items[at] = replace(phrases.items[at], meanings=(("variant", "direct"),))
            phrases.use(place)


def _read_switches(reading: Reading) -> None:
    phrases = reading.phrases
    for at in list(phrases.free("flag")):
        name = phrases.items[at].value.partition("=")[0]
        set_option(reading, name, SWITCHES[name], at)
    _read_without_reasoning(phrases)
    for at in list(phrases.free("cacheword")):  # `don't bother with the cache`, `caching off`
        before, behind = phrases.text[: phrases.items[at].start], phrases.text[phrases.items[at].end :]
        is_off = re.search(WITHOUT, before.lower()) or re.match(OFF, behind.lower())
        if "cache" not in reading.options and is_off:
            beside = phrases.before(at, most=0)
            set_option(reading, "cache", False, *([beside] if phrases.is_kind(beside, "except") else []), at)
    variants = list(phrases.free("variant"))
    names = list(dict.fromkeys(phrases.items[at].value for at in variants))
    both = [at - 1 for at in variants if phrases.is_kind(at - 1 if at else None, "bothways")]
    if both and names == ["cot"]:
        names, variants = ["cot", "direct"], [*both, *variants]
    if len(names) > 1:  # `both chain of thought and direct answers`
        reading.vary["variant"] = list(names)
        phrases.take("matrix.variant", list(names), *variants)
        variants = []
    for at in variants:
        set_option(reading, "variant", phrases.items[at].value, at)
    for at in list(phrases.free("reasoning")):
        set_option(reading, "reasoning_effort", phrases.items[at].value, at)
