"""What is known about one model before it is asked: its context, its price and of when that is, and its limits."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import asdict

from proctor.domain.listed_models import ModelLists
from proctor.domain.model import Model, max_concurrency_of
from proctor.domain.price import FREE, FlatPrice, Price
from proctor.models.kept_lists import find_listed
from proctor.models.price_file import FilePrice
from proctor.models.prices import HOSTS, ListedPrice, find_price
from proctor.models.provider import Provider
from proctor.models.settings import FALSE

BATCH_LIMITS = {"openai": 50_000, "anthropic": 100_000}


class PriceFacts(Struct, frozen=True):
    """US dollars for a million tokens, as text; `note` says what the plain numbers leave out."""

    input: str
    output: str
    cached: str | None
    source: str
    since: str | None = None
    """The day from which the price is in force, where that is known."""
    note: str | None = None


class ModelFacts(Struct, frozen=True):
    """None where nobody knows."""

    context_tokens: int | None
    context_source: str | None
    price: PriceFacts | None
    requests_per_batch: int | None
    max_concurrency: int | None
    listed_at: float | None
    """When the provider last said that it has this model; None when it was not asked, or did not say so."""
    listed_capabilities: Mapping[str, bool]
    """What the provider then said it can and cannot do."""


def find_facts(model: Model, *, prices: Path | None, lists: ModelLists | None) -> ModelFacts:
    """What can be told without asking anybody: from a prices file, the price list, and lists fetched before."""
    identity = model.identity
    found = find_listed(identity, lists) if lists is not None else None
    listed, listed_at = (None, None) if found is None else (found.model, found.fetched_at)
    price = find_price(identity, prices, None, lists)
    is_own = urlsplit(identity.endpoint or "").hostname == HOSTS.get(identity.provider, "")
    entry = _entry(price) if isinstance(price, ListedPrice) else None
    context, source = listed.context_tokens if listed else None, "the provider's list"
    if context is None and entry is not None:
        context, source = entry.context_window, str(price.source if price is not None else "")
    return ModelFacts(
        context_tokens=context,
        context_source=None if context is None else source,
        price=_price(price, entry),
        requests_per_batch=BATCH_LIMITS.get(identity.provider) if is_own else None,
        max_concurrency=max_concurrency_of(model),
        listed_at=listed_at,
        listed_capabilities=listed.capabilities if listed else {},
    )


def find_capabilities(
    provider: Provider, listed: Mapping[str, bool], settings: Mapping[str, Any]
) -> dict[str, bool | None]:
    """What one model can do; None where nobody has said so.

    What cannot be asked for through its adapter, or is refused by its settings, is out of reach whatever the model is.
    """
    refused = {"images"} if str(settings.get("images", "")).lower() in FALSE else set()
    found: dict[str, bool | None] = {}
    for name, can_be_asked in asdict(provider.capabilities).items():
        known = True if provider.has_uniform_models else listed.get(name)
        found[name] = known if can_be_asked and name not in refused else False
    return found


def _price(price: Price | None, entry: Any) -> PriceFacts | None:
    if price is FREE:
        return PriceFacts("0", "0", None, "it costs nothing")
    if isinstance(price, FlatPrice):
        return _flat(price, None)
    if isinstance(price, FilePrice):
        return _flat(price.base, _file_note(price))
    if price is None or entry is None:
        return None
    now = datetime.now(UTC)
    rates = entry.get_prices(now)
    plain = [_rate(getattr(rates, name)) for name in ("input_mtok", "output_mtok", "cache_read_mtok")]
    has_tiers = any(hasattr(value, "tiers") for value in vars(rates).values())
    notes = ["long prompts cost more"] if has_tiers else []
    if entry.deprecated:
        notes.append("the provider is withdrawing this model")
    note = "; ".join(notes) or None
    return PriceFacts(plain[0] or "0", plain[1] or "0", plain[2], price.source, _since(entry, now), note)


def _flat(price: FlatPrice, note: str | None) -> PriceFacts:
    cached = _rate(price.cached_per_million)
    return PriceFacts(
        f"{price.input_per_million:f}", f"{price.output_per_million:f}", cached, price.source, note=note
    )  # fmt: skip


def _file_note(price: FilePrice) -> str | None:
    notes = (
        [f"${price.base.reasoning_per_million:f} for reasoning"] if price.base.reasoning_per_million is not None else []
    )
    for above, rates in price.tiers:
        notes.append(f"${rates.input_per_million:f} in, ${rates.output_per_million:f} out above {above:,} tokens")
    if price.batch is not None:
        rates = price.batch.base
        notes.append(f"${rates.input_per_million:f} in, ${rates.output_per_million:f} out in batches")
    return "; ".join(notes) or None


def _entry(price: ListedPrice) -> Any:
    from genai_prices import Usage, calc_price

    return calc_price(Usage(input_tokens=1, output_tokens=1), price.model, provider_id=price.provider).model


def _rate(value: Any) -> str | None:
    """A rate, or the lowest of its tiers."""
    if value is None:
        return None
    return f"{getattr(value, 'base', value):f}"


def _since(entry: Any, now: datetime) -> str | None:
    """The day from which the present price holds, where the list names one."""
    if not isinstance(entry.prices, list):
        return None
    active = [item for item in entry.prices if item.constraint is None or item.constraint.active(now)]
    start = getattr(active[-1].constraint, "start_date", None) if active else None
    return None if start is None else start.isoformat()
