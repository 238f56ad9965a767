"""What servers and programs report of an answer: kept where it can be true, unknown where it cannot."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import Any

from msgspec.structs import astuple, replace

from proctor.domain.response import Response, Usage

MAX_TOKENS = 1_000_000_000
MAX_DOLLARS = 1_000_000
"""More than any one answer holds or costs; sums of more could not be stored."""


def tokens(value: Any) -> int | None:
    """A number of tokens; None for anything that cannot be one."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if type(value) is int and 0 <= value <= MAX_TOKENS else None


def dollars(value: Any) -> Decimal | None:
    """A cost; None for anything that cannot be one: less than nothing would let a run spend more than its limit."""
    if value is None:
        return None
    try:
        cost = value if isinstance(value, Decimal) else Decimal(str(value))
    except InvalidOperation:
        return None
    return cost if cost.is_finite() and 0 <= cost <= MAX_DOLLARS else None


def sound(response: Response) -> Response:
    """The response with nothing in it that is not what it should be; raises TypeError when that is the text."""
    if not isinstance(response.text, str):
        raise TypeError("a text was expected")
    used = response.usage
    changes: dict[str, Any] = {}
    for count in (
        used.input_tokens, used.output_tokens, used.reasoning_tokens, used.cached_tokens, used.cache_write_tokens
    ):  # fmt: skip
        if count is not None and tokens(count) != count:
            changes["usage"] = Usage(*map(tokens, astuple(used)))
            break
    if response.cost_usd is not None and (cost := dollars(response.cost_usd)) is not response.cost_usd:
        changes["cost_usd"] = cost
    for name in ("reasoning", "model", "request_id"):
        value = getattr(response, name)
        if value is not None and not isinstance(value, str):
            changes[name] = str(value) if isinstance(value, int) else None
    return replace(response, **changes) if changes else response
