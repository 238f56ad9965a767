"""All models that can be named without asking anybody: demo characters, the price list, and lists fetched before."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import lru_cache

from msgspec import Struct

from proctor.domain.listed_models import ModelLists
from proctor.models.catalogue import find_capabilities
from proctor.models.demo import CHARACTERS
from proctor.models.listing import PROVIDERS
from proctor.models.prices import HOSTS
from proctor.models.registry import provider_of

PRICES_SECONDS = 24 * 3600


class KnownModel(Struct, frozen=True):
    """None where nobody has said so."""

    name: str
    """As it is written: `provider/name`."""
    provider: str
    context_tokens: int | None
    input_usd_per_million: str | None
    output_usd_per_million: str | None
    capabilities: Mapping[str, bool | None]


def find_known_models(text: str, lists: ModelLists | None) -> list[KnownModel]:
    """Those whose name has every word of the text, the shortest first: what is meant is rarely the longest."""
    words, known = text.lower().split(), _all(lists)
    found = [one for one in known if all(word in one.name.lower() for word in words)]
    return sorted(found, key=lambda one: (len(one.name), one.name))


def _all(lists: ModelLists | None) -> tuple[KnownModel, ...]:
    found = {one.name: one for one in _of_price_list(int(time.time() // PRICES_SECONDS))}
    for at in () if lists is None else lists.all():
        provider, listed = at.provider, at.model
        if provider not in PROVIDERS:  # of a plugin that is no longer installed
            continue
        name = f"{provider}/{listed.name}"
        known = found.get(name)
        found[name] = KnownModel(
            name,
            provider,
            listed.context_tokens or (known.context_tokens if known else None),
            listed.input_usd_per_million or (known.input_usd_per_million if known else None),
            listed.output_usd_per_million or (known.output_usd_per_million if known else None),
            find_capabilities(provider_of(provider), listed.capabilities, {}),
        )
    demo = provider_of("demo")
    characters = (
        KnownModel(f"demo/{name}", "demo", None, "0", "0", find_capabilities(demo, {}, {})) for name in CHARACTERS
    )
    return (*characters, *found.values())


@lru_cache(maxsize=1)
def _of_price_list(day: int) -> tuple[KnownModel, ...]:  # noqa: ARG001 - on another day, other prices may hold
    return tuple(_priced())


def _priced() -> Iterator[KnownModel]:
    from genai_prices.data import providers

    now = datetime.now(UTC)
    for provider in providers:
        if provider.id not in HOSTS:
            continue
        capabilities = find_capabilities(provider_of(provider.id), {}, {})
        for model in provider.models:
            if model.deprecated:
                continue
            rates = model.get_prices(now)
            prices = [_rate(rates.input_mtok), _rate(rates.output_mtok)]
            name = f"{provider.id}/{model.id}"
            yield KnownModel(name, provider.id, model.context_window, prices[0], prices[1], capabilities)


def _rate(value: object) -> str | None:
    """A rate, or the lowest of its tiers."""
    return None if value is None else f"{getattr(value, 'base', value):f}"
