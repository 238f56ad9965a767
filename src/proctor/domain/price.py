"""What a model's tokens cost."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol

from proctor.domain.response import Usage

MILLION = Decimal(1_000_000)


class Price(Protocol):
    """Dated prices of one model."""

    @property
    def source(self) -> str:
        """Where the price comes from and of when it is, in words."""
        ...

    def cost(self, usage: Usage) -> Decimal | None:
        """What this usage costs; None when the usage is not known."""
        ...


@dataclass(frozen=True, slots=True)
class FlatPrice:
    """US dollars for a million tokens, the same for any length."""

    input_per_million: Decimal
    output_per_million: Decimal
    cached_per_million: Decimal | None = None
    source: str = "given"

    def cost(self, usage: Usage) -> Decimal | None:
        if usage.input_tokens is None or usage.output_tokens is None:
            return None
        cached = min(usage.cached_tokens or 0, usage.input_tokens)
        cached_rate = self.input_per_million if self.cached_per_million is None else self.cached_per_million
        total = (
            (usage.input_tokens - cached) * self.input_per_million
            + cached * cached_rate
            + usage.output_tokens * self.output_per_million
        )
        return total / MILLION


@dataclass(frozen=True, slots=True)
class DiscountedPrice:
    """Another price, less a discount that holds for everything."""

    price: Price
    factor: Decimal
    reason: str

    @property
    def source(self) -> str:
        return f"{self.price.source}, times {self.factor} ({self.reason})"

    def cost(self, usage: Usage) -> Decimal | None:
        full = self.price.cost(usage)
        return None if full is None else full * self.factor


FREE = FlatPrice(Decimal(0), Decimal(0), source="free")
