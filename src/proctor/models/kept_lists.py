"""The lists of models that providers gave, as they are kept on this machine."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson
from msgspec import Struct, to_builtins

from proctor.domain.model import ModelIdentity


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


def read_list(file: Path, oldest_seconds: float | None) -> StoredModelList | None:
    """The list on disk, if it is no older than that; one that cannot be read is as good as none."""
    found = _read(file)
    if found is None:
        return None
    listing, _ = found
    age = time.time() - listing.fetched_at
    return listing if oldest_seconds is None or 0 <= age < oldest_seconds else None


def keep_list(file: Path, listing: StoredModelList, base_url: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_suffix(".new")
    draft.write_bytes(orjson.dumps({**to_builtins(listing), "base_url": base_url}))
    draft.replace(file)


def find_listed(identity: ModelIdentity, folder: Path) -> tuple[ListedModel, float] | None:
    """What the newest list from the model's own address says of it, however old, and of when that is."""
    found = [
        (listing.fetched_at, model)
        for listing in _lists_of(identity, folder)
        for model in listing.models
        if model.name == identity.name
    ]
    if not found:
        return None
    fetched_at, model = max(found, key=lambda item: item[0])
    return model, fetched_at


def _lists_of(identity: ModelIdentity, folder: Path) -> Iterator[StoredModelList]:
    for file in folder.glob(f"models-{identity.provider}-*.json"):
        found = _read(file)
        if found is None:
            continue
        listing, base_url = found
        if base_url is not None and (identity.endpoint or "").startswith(f"{base_url.rstrip('/')}/"):
            yield listing


def _read(file: Path) -> tuple[StoredModelList, str | None] | None:
    try:
        document: Any = orjson.loads(file.read_bytes())
        listing = StoredModelList(
            tuple(ListedModel(**item) for item in document["models"]), float(document["fetched_at"])
        )
        return listing, document.get("base_url")
    except (OSError, orjson.JSONDecodeError, KeyError, TypeError, ValueError):
        return None
