"""Providers, and what is known about a model without asking it anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from proctor.domain.documents.document import Document
from proctor.domain.message import Json


class ProviderDescription(Document, frozen=True):
    provider: str
    description: str
    key_variable: str | None
    has_key: bool | None
    """None where no key is needed."""
    capabilities: Mapping[str, bool]
    settings: Sequence[str]


class ModelPrice(Document, frozen=True):
    """US dollars for a million tokens, as text; `note` says what the plain numbers leave out."""

    input: str
    output: str
    cached: str | None
    source: str
    since: str | None
    note: str | None


class ModelLimits(Document, frozen=True):
    requests_per_minute: Json
    tokens_per_minute: Json
    """As the model's settings say it."""
    requests_per_batch: int | None
    most_at_once: int | None


class ModelDescription(Document, frozen=True, kw_only=True):
    model: str
    provider: str
    name: str
    endpoint: str | None
    adapter_version: str
    options: Mapping[str, Json]
    settings: Mapping[str, Json]
    capabilities: Mapping[str, bool | None]
    """None where nobody has said so."""
    key_variable: str | None
    has_key: bool | None
    context_tokens: int | None
    price: ModelPrice | None
    limits: ModelLimits
    listed_at: float | None
    """When the provider last said that it has this model, in seconds since the epoch."""
    agent: Mapping[str, Json] | None = None
    """What an agent says of itself, or the `problem` of asking it; None for models that cannot be asked that."""


class FoundModel(Document, frozen=True, kw_only=True):
    """A model that can be named; null where nobody has said so."""

    model: str
    """As it is written: `provider/name`."""
    provider: str
    has_key: bool | None
    """Whether its provider's key is there; null where none is needed."""
    context_tokens: int | None
    input_usd_per_million: str | None
    output_usd_per_million: str | None
    capabilities: Mapping[str, bool | None]


class ModelListEntry(Document, frozen=True):
    """What a provider says about one of its models; None where it says nothing. Prices are decimal numbers."""

    name: str
    context_tokens: int | None
    input_usd_per_million: str | None
    output_usd_per_million: str | None
    cached_usd_per_million: str | None
    written_usd_per_million: str | None
    reasoning_usd_per_million: str | None
    capabilities: Mapping[str, bool]
    """What it can and cannot do; nothing is known of what is left out."""


class ModelList(Document, frozen=True):
    provider: str
    fetched_at: float
    """Seconds since the epoch."""
    models: Sequence[ModelListEntry]
