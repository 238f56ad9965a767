"""Budgets: `under $2`, `höchstens fünfzig Cent`, `2달러 이하`."""

from __future__ import annotations

from decimal import Decimal

from proctor.domain.errors import UserError
from proctor.planner.phrases import Phrases
from proctor.planner.reading import Reading, Unsupported

CURRENCIES = {
    "eur": "euros", "gbp": "pounds", "jpy": "yen", "krw": "won", "cny": "yuan", "chf": "francs", "inr": "rupees",
    "mxn": "pesos",
}  # fmt: skip


def read_money(reading: Reading) -> None:
    """Set the cost limit; a UserError for another currency, and for two budgets."""
    phrases = reading.phrases
    for at in list(phrases.free("currency")):
        number = _number_of(phrases, at)
        if number is None:
            continue
        is_part = phrases.items[number].kind == "fraction"
        currency = phrases.items[at].value
        written = phrases.items[number].value if is_part else phrases.items[number].number
        if currency not in ("usd", "cent"):
            raise UserError(
                f"The budget {phrases.words(*sorted((at, number)))!r} is in {CURRENCIES.get(currency, currency)}: "
                "there are no exchange rates here, and prices are in US dollars. Say the budget in dollars."
            )
        amount = Decimal(str(written)) * (Decimal("0.01") if currency == "cent" else 1)
        if not amount > 0:
            raise UserError("A budget of $0 pays for nothing. Say more, or leave the budget out.")
        if reading.cost_usd is not None and reading.cost_usd != amount:
            raise UserError(f"The query names two budgets, ${reading.cost_usd} and ${amount}: say one.")
        reading.cost_usd = amount
        places = phrases.absorb(min(at, number), max(at, number), "atmost", "budget", "total")
        phrases.take("limits.cost_usd", float(amount), *places)
    for at in list(phrases.free("nolimit")):
        phrases.use(at)
        reading.unsupported.append(
            Unsupported(phrases.words(at), "a limit is left out only by leaving it out; nothing said here lifts one")
        )


def _number_of(phrases: Phrases, at: int) -> int | None:
    """The number beside a currency: behind the sign, or before the word."""
    before = phrases.before(at, most=1)
    after = phrases.after(at, most=0)
    sign = phrases.items[at]
    is_sign = not phrases.text[sign.start : sign.end].isalpha()
    first, second = (after, before) if is_sign else (before, after)
    for place in (first, second):
        if phrases.is_kind(place, "number"):
            return place
    # `half a dollar`
    is_part = phrases.is_kind(before, "fraction") and "/" not in phrases.items[before].value
    return before if is_part else None
