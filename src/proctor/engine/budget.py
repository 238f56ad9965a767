"""Money is reserved before a request and settled after it: what is spent and reserved never exceeds the cap."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal

from proctor.domain.errors import PlanError
from proctor.domain.identity import canonical
from proctor.domain.message import Document, Image, Json, Part, Prompt
from proctor.domain.price import Price
from proctor.domain.response import Usage

TOKENS_PER_MESSAGE = 16
TOKENS_PER_IMAGE = 8_192
REPAIR_ROUNDS = "repair"
"""The option of a trial that says how often it may be asked again, each time with the whole conversation before."""
TOKENS_PER_COMPLAINT = 32_768
"""What is said between two rounds has fewer bytes than this."""


class Budget:
    """A hard cap shared by all models of a run."""

    def __init__(self, cap_usd: Decimal, spent_usd: Decimal, on_exhausted: Callable[[], None]) -> None:
        self.cap_usd = cap_usd
        self.spent_usd = spent_usd
        self.reserved_usd = Decimal(0)
        self._on_exhausted = on_exhausted
        self._changed = asyncio.Event()

    async def reserve(self, amount_usd: Decimal) -> bool:
        """Wait until the amount fits under the cap; False when it never will."""
        while self.spent_usd + self.reserved_usd + amount_usd > self.cap_usd:
            if self.reserved_usd == 0:
                self._on_exhausted()
                return False
            self._changed.clear()
            await self._changed.wait()
        self.reserved_usd += amount_usd
        return True

    def fits(self, amount_usd: Decimal) -> bool:
        """Whether the amount can be reserved without waiting."""
        return self.spent_usd + self.reserved_usd + amount_usd <= self.cap_usd

    def commit(self, amount_usd: Decimal) -> None:
        """Reserve what an earlier execution has already promised to spend, whatever the cap says now."""
        self.reserved_usd += amount_usd

    def settle(self, reserved_usd: Decimal, spent_usd: Decimal) -> None:
        """Give a reservation back and count what was really spent."""
        self.reserved_usd -= reserved_usd
        self.spent_usd += spent_usd
        self._changed.set()


def most_it_can_cost(prompt: Prompt, options: Mapping[str, Json], price: Price) -> Decimal:
    """An upper bound for one request: no token is shorter than a byte, and no answer longer than its limit.

    Some providers charge more for input that they put into their cache, or for reasoning: all of it might be that.
    """
    longest = options.get("max_tokens")
    if not isinstance(longest, int):
        raise PlanError("a cost limit needs a limit on each answer: give max_tokens (--max-tokens)")
    tokens = sum(
        len(message.text.encode("utf-8", "surrogatepass"))
        + TOKENS_PER_MESSAGE
        + sum(_part_tokens(part) for part in message.content if not isinstance(message.content, str))
        for message in prompt.messages
    )
    tokens += len(canonical([prompt.tools, prompt.schema]))
    rounds = options.get(REPAIR_ROUNDS, 0)
    more = range(1 + (rounds if isinstance(rounds, int) else 0))
    return sum((_dearest(tokens + n * (longest + TOKENS_PER_COMPLAINT), longest, price) for n in more), Decimal(0))


def _dearest(tokens: int, longest: int, price: Price) -> Decimal:
    usage = Usage(input_tokens=tokens, output_tokens=longest)
    plain, written, reasoned = (
        price.cost(replace(usage, **{name: most}))
        for name, most in (("cached_tokens", 0), ("cache_write_tokens", tokens), ("reasoning_tokens", longest))
    )
    if plain is None or written is None or reasoned is None:
        raise PlanError(f"the price ({price.source}) cannot say what a request costs, so no cost limit can be kept")
    # Input and output are billed apart, so what each can cost at most adds up.
    return max(plain, written) + max(reasoned - plain, Decimal(0))


def _part_tokens(part: Part | str) -> int:
    """Text is counted with its message; a document can hold no more text than bytes, a page image apart."""
    if isinstance(part, Image):
        return TOKENS_PER_IMAGE
    return len(part.data) + TOKENS_PER_IMAGE if isinstance(part, Document) else 0
