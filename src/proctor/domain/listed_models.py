"""What providers list of their models, and where such lists are kept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from msgspec import Struct


class ListedModel(Struct, frozen=True):
    """What a provider says about one of its models; None where it says nothing. Prices are decimal numbers."""

    name: str
    context_tokens: int | None = None
    input_usd_per_million: str | None = None
    output_usd_per_million: str | None = None
    cached_usd_per_million: str | None = None
    written_usd_per_million: str | None = None
    reasoning_usd_per_million: str | None = None
    capabilities: Mapping[str, bool] = {}
    """What it can and cannot do, by the names of `Capabilities`; nothing is known of those that are left out."""


class StoredModelList(Struct, frozen=True):
    models: tuple[ListedModel, ...]
    fetched_at: float
    """Seconds since 1970: how old the list is."""


class ModelSource(Struct, frozen=True):
    """Who gave a list."""

    provider: str
    base_url: str
    digest: str
    """Of the address and the key that was sent: two keys may see two lists."""


class ListedAt(Struct, frozen=True):
    """A model in a list."""

    model: ListedModel
    provider: str
    base_url: str
    fetched_at: float


class ModelLists(Protocol):
    """Keeps the newest list of each source."""

    def of_project(self, project: str) -> ModelLists:
        """The same, of this project's own keys and of those that every project may use."""

    def read(self, source: ModelSource) -> StoredModelList | None: ...

    def keep(self, source: ModelSource, listing: StoredModelList) -> None: ...

    def find(self, provider: str, name: str) -> list[ListedAt]:
        """The model in every list of the provider that has it, the newest list first."""

    def all(self) -> Iterable[ListedAt]:
        """Every model of every list, the oldest list first."""

    def state(self) -> str:
        """Another one after a list was added, renewed or removed."""
