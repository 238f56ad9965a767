"""Budgets: `under $2`, `two dollars and fifty cents`, `höchstens fünfzig Cent`, `2달러 이하`."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction

from msgspec.structs import replace

from proctor.domain.errors import UserError
from proctor.planner.amounts import amount_at, is_joined
from proctor.planner.phrases import Phrases
from proctor.planner.reading import Reading, Unsupported

SPENDING = "budget|spend|cost|kost|coût|presupuesto|gast|예산|비용|予算|費用|预算|费用"
CURRENCIES = {
    "eur": "euros", "gbp": "pounds", "jpy": "yen", "krw": "won", "cny": "yuan", "chf": "francs", "inr": "rupees",
    "mxn": "pesos", "cad": "Canadian dollars", "aud": "Australian dollars", "hkd": "Hong Kong dollars",
    "sgd": "Singapore dollars", "twd": "Taiwan dollars", "nzd": "New Zealand dollars", "brl": "reais",
    "rub": "roubles", "sek": "kronor", "pln": "zloty", "btc": "bitcoin",
}  # fmt: skip


def _is_remark(phrases: Phrases, first: int) -> bool:
    """`5 dollars (about 4.60 euros)`: in brackets behind a budget, another currency says it once more."""
    before = phrases.text[: phrases.items[first].start]
    return before.rfind("(") > before.rfind(")")


def read_money(reading: Reading) -> None:
    """Set the cost limit; a UserError for another currency, and for two budgets."""
    phrases = reading.phrases
    _merge_tenths(phrases)
    found: list[tuple[Decimal, list[int]]] = []
    for at in list(phrases.free("currency")):
        if at in phrases.used:
            continue
        number = _number_of(phrases, at)
        amount = _amount(phrases, at, number)
        if amount is None:
            continue
        places = [at] if number is None else sorted((at, number))
        amount, places = _with_dollars(phrases, amount, places)
        currency = phrases.items[at].value
        if currency not in ("usd", "cent") and found and _is_remark(phrases, places[0]):
            phrases.use(*places)
            continue
        if currency not in ("usd", "cent"):
            raise UserError(
                f"The budget {phrases.words(*places)!r} is in {CURRENCIES.get(currency, currency)}: "
                "there are no exchange rates here, and prices are in US dollars. Say the budget in dollars."
            )
        if currency == "cent" and found and is_joined(phrases, found[-1][1][-1], places[0]):
            found[-1] = (found[-1][0] + amount, [*found[-1][1], *places])
        else:
            found.append((amount, places))
        phrases.use(*places)
    for amount, places in found:
        _set(reading, *_with_cents(phrases, amount, places))
    _read_spoken(reading)
    for at in list(phrases.free("amount")):  # `a fiver`
        reading.budget_without_currency = True
        _set(reading, Decimal(phrases.items[at].value), [at])
    for at in list(phrases.free("nolimit")):
        phrases.use(at)
        reading.unsupported.append(
            Unsupported(phrases.words(at), "a limit is left out only by leaving it out; nothing said here lifts one")
        )


def _merge_tenths(phrases: Phrases) -> None:
    """`两块五美元`: before the dollars the word for a piece of money is a decimal point."""
    for at in range(len(phrases.items) - 3):
        whole, piece, tenth, unit = phrases.items[at : at + 4]
        is_amount = whole.number is not None and tenth.number is not None and unit.kind == "currency"
        if is_amount and unit.value == "usd" and phrases.words(at + 1) in ("块", "块钱"):
            phrases.items[at + 2] = replace(tenth, number=(whole.number or 0) + (tenth.number or 0) / 10)
            phrases.items[at] = replace(whole, meanings=(("filler", ""),), number=None)
            phrases.items[at + 1] = replace(piece, meanings=(("filler", ""),))


def _set(reading: Reading, amount: Decimal, places: list[int]) -> None:
    phrases = reading.phrases
    if not amount > 0:
        raise UserError("A budget of $0 pays for nothing. Say more, or leave the budget out.")
    if reading.cost_usd is not None and reading.cost_usd != amount:
        raise UserError(f"The query names two budgets, ${reading.cost_usd} and ${amount}: say one.")
    reading.cost_usd = amount
    around = phrases.absorb(min(places), max(places), "atmost", "budget", "total", "except")
    phrases.take("limits.cost_usd", float(amount), *sorted({*places, *around}))


def _amount(phrases: Phrases, at: int, number: int | None) -> Decimal | None:
    if phrases.is_kind(number, "fraction"):
        value: float | None = float(Fraction(phrases.items[number].value))
    else:
        value = amount_at(phrases, at, number)
    if value is None:
        return None
    return Decimal(str(value)) * (Decimal("0.01") if phrases.items[at].value == "cent" else 1)


def _with_dollars(phrases: Phrases, cents: Decimal, places: list[int]) -> tuple[Decimal, list[int]]:
    """`zwei fünfzig Dollar`: a small number in words right before one of two digits is the dollars of it."""
    dollars, number = places[0] - 1, places[0]
    if dollars < 0 or not all(phrases.is_kind(at, "number") and at not in phrases.used for at in (dollars, number)):
        return cents, places
    first, second = phrases.items[dollars], phrases.items[number]
    written = phrases.text[first.start : second.end]
    is_spoken = not any(letter.isdigit() for letter in written) and 10 <= cents < 100
    if not (is_spoken and isinstance(first.number, int) and first.number < 20 and phrases.text[first.end] == " "):
        return cents, places
    return first.number + cents / 100, [dollars, *places]


def _with_cents(phrases: Phrases, amount: Decimal, places: list[int]) -> tuple[Decimal, list[int]]:
    """`a dollar fifty`, `2 Dollar 50`: a number right behind the dollars that counts nothing else."""
    cents, last = places[-1] + 1, places[-1]
    if cents < len(phrases.items) and phrases.words(cents).lower() in ("con", "et", "und", "y"):
        cents += 1  # `dos dólares con veinte`
    if phrases.items[last].kind == "currency" and cents < len(phrases.items) and phrases.words(cents) in ("半", "반"):
        return amount + Decimal("0.5"), [*places, cents]  # `2ドル半`
    is_number = cents < len(phrases.items) and phrases.is_kind(cents, "number") and cents not in phrases.used
    if not is_number or phrases.items[last].kind != "currency" or not is_joined(phrases, last, cents):
        return amount, places
    item = phrases.items[cents]
    written = phrases.text[item.start : item.end]
    ends = cents + 1 == len(phrases.items) or phrases.items[cents + 1].kind in ("stop", "atmost", "budget", "total")
    is_spoken = not written.isdigit() or (len(written) == 2 and phrases.language in ("fr", "de", "es"))
    if not (ends and is_spoken and isinstance(item.number, int) and 0 < item.number < 100):
        return amount, places
    return amount + Decimal(item.number) / 100, [*places, cents]


def _read_spoken(reading: Reading) -> None:
    """`budget two fifty`, `budget: 3`: an amount of a budget without a currency is in dollars, as prices are."""
    phrases = reading.phrases
    for at in list(phrases.free("budget")):
        if not re.search(SPENDING, phrases.words(at).lower()):
            continue  # `cap it at 50` may well be questions
        number = phrases.after(_behind_its_limit(phrases, at), over="atmost", most=3)
        if reading.cost_usd is not None or not phrases.is_kind(number, "number"):
            continue
        follows = phrases.after(number, most=0)
        places, value = [at, number], Decimal(str(phrases.items[number].number))
        if phrases.is_kind(follows, "number") and not phrases.words(number, follows)[-1:].isdigit():
            value += Decimal(phrases.items[follows].number or 0) / 100
            places.append(follows)
            follows = phrases.after(follows, most=0)
        if follows is not None and phrases.items[follows].kind in ("sample", "minutes", "seconds", "percent", "token",
                                                                    "times", "epoch", "counter"):  # fmt: skip
            continue
        reading.budget_without_currency = True
        _set(reading, value, places)


def _behind_its_limit(phrases: Phrases, at: int) -> int:
    """The place from which an amount is looked for: over `limit` or `ceiling`, and over a colon."""
    for kinds in (("limit", "atmost", "budget"), ("stop",)):
        following = at + 1
        is_next = following < len(phrases.items) and phrases.is_kind(following, *kinds)
        at += is_next and (kinds != ("stop",) or phrases.items[following].value == ":")
    return at


def _is_of_sign(phrases: Phrases, before: int, sign: int, after: int | None) -> bool:
    """`3$`, and `3 USD, 40 questions`: whether the number before a sign is the one that it is written for."""
    if phrases.items[before].end == phrases.items[sign].start:
        return True
    is_of_it = after is None or not phrases.is_kind(after, "number") or _has_unit(phrases, after)
    is_amount = phrases.is_kind(phrases.before(before, most=1), "budget", "atmost") or phrases.words(sign).isalpha()
    return is_of_it and is_amount and before == sign - 1


def _has_unit(phrases: Phrases, number: int) -> bool:
    return phrases.is_kind(phrases.after(number, over="counter", most=1), *_OTHER_UNITS)


_OTHER_UNITS = ("sample", "minutes", "seconds", "percent", "token", "times", "epoch", "shot", "example", "points")


def _number_of(phrases: Phrases, at: int) -> int | None:
    """The number beside a currency: behind the sign, or before the word."""
    before = phrases.before(at, most=1)
    after = phrases.after(at, most=0)
    sign = phrases.items[at]
    written = phrases.text[sign.start : sign.end]
    is_sign = not written.isalpha() or written.lower() in ("usd", "eur", "gbp", "chf", "cad", "aud", "us")
    if is_sign and phrases.is_kind(before, "number") and _is_of_sign(phrases, before, at, after):
        return before  # `3$`
    first, second = (after, before) if is_sign else (before, None)
    for place in (first, second):
        if phrases.is_kind(place, "number"):
            return place
    # `half a dollar`
    is_part = phrases.is_kind(before, "fraction")
    if is_part:
        return before
    ends = at + 2 >= len(phrases.items) or phrases.items[at + 2].kind in ("stop", "atmost")
    return after if phrases.is_kind(after, "number") and ends and amount_at(phrases, at, None) is None else None
