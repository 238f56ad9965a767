"""Finds a model's price: given in a file, known to the price list or to the provider, or assumed by the user."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from proctor import plugins
from proctor.domain.errors import PlanError
from proctor.domain.listed_models import ModelLists
from proctor.domain.model import ModelIdentity
from proctor.domain.price import FREE, FlatPrice, Price
from proctor.domain.response import Usage
from proctor.models.price_file import price_in_file
from proctor.models.registry import provider_of

HOSTS = {
    "openai": "api.openai.com",
    "anthropic": "api.anthropic.com",
    "google": "generativelanguage.googleapis.com",
    "openrouter": "openrouter.ai",
}
"""Providers of the price list, and the only addresses at which its prices hold."""


class ListedPrice(Struct, frozen=True):
    """A price of the genai-prices package, with its tiers and its rates for cached tokens and for batches."""

    provider: str
    model: str
    source: str
    is_batch: bool = False

    @property
    def basis(self) -> str:
        return f"computed: {self.source}"

    def cost(self, usage: Usage) -> Decimal | None:
        """Reasoning tokens are part of the output, and billed as output."""
        from genai_prices import Usage as Counts
        from genai_prices import calc_price

        if usage.input_tokens is None or usage.output_tokens is None:
            return None
        counts = Counts(
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            cache_read_tokens=usage.cached_tokens or 0,
            cache_write_tokens=usage.cache_write_tokens or 0,
        )
        context = {"processing": "batch"} if self.is_batch else None
        found = calc_price(counts, self.model, provider_id=self.provider, price_context=context)
        total: Decimal = found.total_price
        return total

    def in_batch(self) -> ListedPrice | None:
        """The list's own rates for batches; None where it has none, and what a provider says in general holds."""
        batch = replace(self, is_batch=True, source=f"{self.source}, rates for batches")
        some = Usage(1_000_000, 1_000_000)
        return batch if batch.cost(some) != self.cost(some) else None


def find_price(
    identity: ModelIdentity, file: Path | None, assumed: FlatPrice | None, lists: ModelLists | None = None
) -> Price | None:
    """The model's price; None when nobody knows it.

    A file wins over the price list, that over what the provider listed when it was last asked (`lists` is where its
    lists are kept), and what is assumed comes last.
    """
    if plugins.is_known("models", identity.provider) and provider_of(identity.provider).is_free:
        return FREE
    given = price_in_file(identity, file) if file is not None else None
    return given or _from_list(identity) or (_from_provider(identity, lists) if lists is not None else None) or assumed


def _from_provider(identity: ModelIdentity, lists: ModelLists) -> FlatPrice | None:
    from proctor.models.kept_lists import find_listed

    found = find_listed(identity, lists)
    if found is None:
        return None
    listed = found.model
    if listed.input_usd_per_million is None or listed.output_usd_per_million is None:
        return None
    day = datetime.fromtimestamp(found.fetched_at, UTC).date().isoformat()
    return FlatPrice(
        Decimal(listed.input_usd_per_million),
        Decimal(listed.output_usd_per_million),
        _amount(listed.cached_usd_per_million),
        source=f"the provider's list of {day}",
        written_per_million=_amount(listed.written_usd_per_million),
        reasoning_per_million=_amount(listed.reasoning_usd_per_million),
    )


def _amount(rate: str | None) -> Decimal | None:
    return None if rate is None else Decimal(rate)


def read_assumed(text: str) -> FlatPrice:
    """`0.25/2` is 0.25 dollars for a million tokens in, 2 dollars for a million out."""
    parts = text.split("/")
    try:
        rates = [Decimal(part) for part in parts]
    except InvalidOperation:
        rates = []
    if len(rates) != 2 or any(not rate.is_finite() or rate < 0 for rate in rates):
        raise PlanError(f"--assume-price takes IN/OUT, dollars for a million tokens, for example 0.25/2, not {text!r}.")
    source = f"${parts[0]} in, ${parts[1]} out for a million tokens"
    return FlatPrice(rates[0], rates[1], source=source, kind="assumed")


def _from_list(identity: ModelIdentity) -> ListedPrice | None:
    host = urlsplit(identity.endpoint or "").hostname
    if host is None or HOSTS.get(identity.provider) != host:
        return None
    # Importing the list takes longer than all of `proctor --version`: only for models that can be in it.
    from importlib.metadata import version

    from genai_prices import Usage as Counts
    from genai_prices import calc_price

    try:
        calc_price(Counts(input_tokens=1, output_tokens=1), identity.name, provider_id=identity.provider)
    except LookupError:
        return None
    source = f"genai-prices {version('genai-prices')} (price changes up to {newest_change()})"
    return ListedPrice(identity.provider, identity.name, source)


def newest_change() -> str:
    """The list has no date of its own; the newest change it knows is the least that can be said of its age."""
    from genai_prices.data import providers

    today = datetime.now(UTC).date()
    days = (
        getattr(item.constraint, "start_date", None)
        for provider in providers
        for model in provider.models
        for item in [*(model.prices if isinstance(model.prices, list) else ()), *(model.price_variants or ())]
    )
    newest: date = max(day for day in days if day is not None and day <= today)
    return newest.isoformat()
