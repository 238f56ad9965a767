"""Money is reserved before a request and settled after it: what is spent and reserved never exceeds the cap."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from decimal import ROUND_CEILING, Decimal

from msgspec.structs import replace

from proctor.domain.errors import PlanError
from proctor.domain.identity import canonical
from proctor.domain.message import DocumentPart, Image, Json, Message, Part, Prompt
from proctor.domain.price import FREE_OF_CHARGE, Price
from proctor.domain.response import Usage
from proctor.domain.run import COST_LIMIT

BYTES_PER_CHARACTER = 4
TOKENS_PER_MESSAGE = 16
TOKENS_PER_IMAGE = 50_000
"""Nobody is known to bill more for an image or for the picture of a page: the dearest is gpt-4o-mini, with 2,833 tokens
and 5,667 for each of at most 8 tiles, which makes 48,169."""
TOKENS_OF_INSTRUCTIONS = 1_024
"""What providers say to a model about tools and schemas on their own account is billed too; it is shorter than this."""
REPAIR_ROUNDS = "repair"
"""The option of a trial that says how often it may be asked again, each time with the whole conversation before."""
TOKENS_PER_COMPLAINT = 32_768
"""What is said between two rounds has fewer bytes than this."""


class Budget:
    """A hard cap shared by all models of a run; `on_exhausted` is told of the first amount that does not fit."""

    def __init__(self, cap_usd: Decimal, spent_usd: Decimal, on_exhausted: Callable[[Decimal], None]) -> None:
        self.cap_usd = cap_usd
        self.spent_usd = spent_usd
        self.reserved_usd = Decimal(0)
        self._on_exhausted = on_exhausted
        self._changed = asyncio.Event()

    async def reserve(self, amount_usd: Decimal) -> bool:
        """Wait until the amount fits under the cap; False when it never will."""
        while self.spent_usd + self.reserved_usd + amount_usd > self.cap_usd:
            if self.reserved_usd == 0:
                self._on_exhausted(amount_usd)
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


async def reservation(prompt: Prompt, options: Mapping[str, Json], price: Price, who: str) -> Decimal:
    """What `most_it_can_cost` says; documents are read beside the event loop, because that may take seconds."""
    if any(isinstance(part, DocumentPart) for message in prompt.messages for part in _parts(message)):
        return await asyncio.to_thread(most_it_can_cost, prompt, options, price, who)
    return most_it_can_cost(prompt, options, price, who)


def out_of_money(cap_usd: Decimal, spent_usd: Decimal, next_usd: Decimal) -> str:
    """Why nothing more is asked: what was spent, and what the next request could cost."""
    more = f"request could cost up to ${_rounded_up(next_usd)}"
    if not spent_usd:
        return f"{COST_LIMIT} of ${cap_usd} allows no request: the first {more}, so none that costs anything was sent"
    return f"{COST_LIMIT} of ${cap_usd} was reached: up to ${_rounded_up(spent_usd)} is spent, and the next {more}"


def _rounded_up(usd: Decimal) -> str:
    """Two figures are enough, and never less than it is."""
    places = max(2, 1 - usd.adjusted())
    return f"{usd.quantize(Decimal(1).scaleb(-places), ROUND_CEILING):f}"


def most_it_can_cost(prompt: Prompt, options: Mapping[str, Json], price: Price, who: str = "the model") -> Decimal:
    """An upper bound for one request: no token is shorter than a byte, and no answer longer than its limit.

    Raises RequestRejectedError for a document that cannot be read: nobody knows how much is in it.

    Some providers charge more for input that they put into their cache, or for reasoning: all of it might be that.
    """
    if price.basis == FREE_OF_CHARGE:
        return Decimal(0)
    longest = options.get("max_tokens")
    if not isinstance(longest, int):
        raise PlanError("a cost limit needs a limit on each answer: give max_tokens (--max-tokens)")
    tokens = sum(
        len(message.text.encode("utf-8", "surrogatepass"))
        + TOKENS_PER_MESSAGE
        + sum(_part_tokens(part, who) for part in _parts(message))
        for message in prompt.messages
    )
    # What `extra` holds may be written into the prompt, by a chat template for one.
    tokens += len(canonical([prompt.tools, prompt.schema, options.get("extra")]))
    if prompt.tools or prompt.schema is not None:
        tokens += TOKENS_OF_INSTRUCTIONS
    asked = _times_asked(prompt)
    tokens, longest = tokens * asked, max(longest, asked)
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


def _parts(message: Message) -> tuple[Part, ...]:
    return () if isinstance(message.content, str) else message.content


def _times_asked(prompt: Prompt) -> int:
    """A choice between texts may be made by weighing each of them, and then each comes after the whole prompt."""
    texts = (prompt.schema or {}).get("enum")
    return max(1, len(texts)) if isinstance(texts, list) else 1


def _part_tokens(part: Part, who: str) -> int:
    """Text is counted with its message; of a document some providers bill the text and a picture of each page.

    Its text counts as it is read here: the file itself is compressed, and may hold many times its own size.
    """
    if isinstance(part, Image):
        return TOKENS_PER_IMAGE
    if not isinstance(part, DocumentPart):
        return 0
    from proctor.prompts.documents import pdf_content

    content = pdf_content(part.data, part.name, who)
    seen = len(content.text.encode("utf-8", "surrogatepass"))
    return seen + BYTES_PER_CHARACTER * content.unseen_characters + TOKENS_PER_IMAGE * content.pages
