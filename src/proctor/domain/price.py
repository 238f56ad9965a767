"""What a model's tokens cost, and who says so."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Literal, Protocol

from msgspec import Struct

from proctor.domain.response import Usage

MILLION = Decimal(1_000_000)

REPORTED = "reported"
"""The basis of a cost that the provider itself named."""
FREE_OF_CHARGE = "free"
UNKNOWN = "unknown"
MIXED = "mixed"


class Price(Protocol):
    """Dated prices of one model."""

    @property
    def source(self) -> str:
        """Where the price comes from and of when it is, in words."""
        ...

    @property
    def basis(self) -> str:
        """How a cost reckoned with this price is marked when it is recorded: 'computed: …', 'assumed: …' or 'free'."""
        ...

    def cost(self, usage: Usage) -> Decimal | None:
        """What this usage costs; None when the usage is not known."""
        ...


class FlatPrice(Struct, frozen=True):
    """US dollars for a million tokens, the same for any length."""

    input_per_million: Decimal
    output_per_million: Decimal
    cached_per_million: Decimal | None = None
    source: str = "given"
    kind: Literal["computed", "assumed", "free"] = "computed"
    written_per_million: Decimal | None = None
    """For input that the provider puts into its cache; as any other input if left out."""
    reasoning_per_million: Decimal | None = None
    """For the part of the output that is reasoning; as any other output if left out."""

    @property
    def basis(self) -> str:
        return FREE_OF_CHARGE if self.kind == FREE_OF_CHARGE else f"{self.kind}: {self.source}"

    def cost(self, usage: Usage) -> Decimal | None:
        if usage.input_tokens is None or usage.output_tokens is None:
            return None
        cached = min(usage.cached_tokens or 0, usage.input_tokens)
        written = min(usage.cache_write_tokens or 0, usage.input_tokens - cached)
        reasoning = min(usage.reasoning_tokens or 0, usage.output_tokens)
        total = (
            (usage.input_tokens - cached - written) * self.input_per_million
            + cached * self.rate("cached_per_million")
            + written * self.rate("written_per_million")
            + (usage.output_tokens - reasoning) * self.output_per_million
            + reasoning * self.rate("reasoning_per_million")
        )
        return total / MILLION

    def rate(self, name: str) -> Decimal:
        """A rate by its field's name; what was left out is billed as the input or output that it is part of."""
        given: Decimal | None = getattr(self, name)
        if given is not None:
            return given
        return self.output_per_million if name == "reasoning_per_million" else self.input_per_million


class DiscountedPrice(Struct, frozen=True):
    """Another price, less a discount that holds for everything."""

    price: Price
    factor: Decimal
    reason: str

    @property
    def source(self) -> str:
        return f"{self.price.source}, times {self.factor} ({self.reason})"

    @property
    def basis(self) -> str:
        return f"{self.price.basis}, times {self.factor} ({self.reason})"

    def cost(self, usage: Usage) -> Decimal | None:
        full = self.price.cost(usage)
        return None if full is None else full * self.factor


FREE = FlatPrice(Decimal(0), Decimal(0), source="free", kind="free")


def basis_kind(basis: str | None) -> str:
    """'computed: genai-prices …' is 'computed'; None is 'unknown'."""
    return UNKNOWN if basis is None else basis.partition(":")[0]


def basis_source(basis: str | None) -> str | None:
    """'computed: genai-prices …' rests on 'genai-prices …'; what was reported rests on no price."""
    return None if basis is None else basis.partition(": ")[2] or None


def reported(cost_usd: Decimal | None) -> str | None:
    """The basis of what a provider says an answer cost; None where it says nothing."""
    return None if cost_usd is None else REPORTED


def joint_kind(bases: Iterable[str | None]) -> str:
    """What a sum of such costs is: the one kind they share, or 'mixed'."""
    kinds = {basis_kind(basis) for basis in bases}
    return kinds.pop() if len(kinds) == 1 else MIXED if kinds else UNKNOWN
