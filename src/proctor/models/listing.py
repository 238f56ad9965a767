"""The models a provider has right now, asked of the provider itself and remembered for a day."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import orjson

from proctor.domain.errors import NotFoundError, ProviderFaultError
from proctor.domain.identity import digest
from proctor.domain.offline import is_confined
from proctor.models import anthropic, compatible, google, openai
from proctor.models.endpoint import Endpoint, HostedSettings, bearer, find_endpoint
from proctor.models.faults import parse_or_none
from proctor.models.provider import Provider
from proctor.models.transport import Transport, is_loopback

FRESH_SECONDS = 24 * 3600.0
TIMEOUT_SECONDS = 30.0
PROVIDERS: Mapping[str, Provider] = {
    "openai": openai.PROVIDER,
    "anthropic": anthropic.PROVIDER,
    "google": google.PROVIDER,
    **compatible.PROVIDERS,
}


@dataclass(frozen=True, slots=True)
class ListedModel:
    """What a provider says about one of its models; None where it says nothing."""

    name: str
    context_tokens: int | None = None
    input_usd_per_million: str | None = None
    """A decimal number."""
    output_usd_per_million: str | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    models: tuple[ListedModel, ...]
    fetched_at: float
    """Seconds since 1970: how old the list is."""


async def list_models(
    provider: str,
    environment: Mapping[str, str],
    *,
    base_url: str | None = None,
    cache: Path | None = None,
    is_refreshing: bool = False,
) -> Listing:
    """The provider's list, at most a day old; NotFoundError when it has none, ModelError when it cannot be had.

    Offline, a list of any age will do for a provider beyond this machine.
    """
    endpoint, url, headers = _place(provider, environment, base_url)
    file = None if cache is None else _file(cache, provider, url, headers)
    is_cut_off = is_confined() and not is_loopback(url)
    if file is not None and (is_cut_off or not is_refreshing):
        known = _remembered(file, None if is_cut_off else FRESH_SECONDS)
        if known is not None:
            return known
    if is_cut_off:
        raise NotFoundError(f"No list of {provider}'s models was kept, and none is fetched offline.")
    transport = Transport(endpoint.target)
    try:
        reply = await transport.send("GET", url, headers, None, TIMEOUT_SECONDS)
    finally:
        await transport.close()
    listing = Listing(_read(parse_or_none(bytes(reply.body)), endpoint), time.time())
    if file is not None:
        _remember(file, listing)
    return listing


def remembered_models(
    provider: str, environment: Mapping[str, str], *, base_url: str | None, cache: Path
) -> Listing | None:
    """The list that was fetched last, however old; nobody is asked."""
    _, url, headers = _place(provider, environment, base_url)
    return _remembered(_file(cache, provider, url, headers), None)


def _place(provider: str, environment: Mapping[str, str], base_url: str | None) -> tuple[Endpoint, str, dict[str, str]]:
    if provider not in PROVIDERS:
        raise NotFoundError(f"{provider} has no list of models; these have: {', '.join(sorted(PROVIDERS))}.")
    settings = HostedSettings(base_url=base_url, auth_variable=_other_variable(provider, environment))
    endpoint = find_endpoint(PROVIDERS[provider], "*", settings, environment)
    return endpoint, *_request(provider, endpoint)


def _file(cache: Path, provider: str, url: str, headers: Mapping[str, str]) -> Path:
    """Two keys may see two lists; the key itself is not written down."""
    return cache / f"models-{provider}-{digest([url, headers])}.json"


def _other_variable(provider: str, environment: Mapping[str, str]) -> str | None:
    is_google = provider == "google" and not environment.get("GEMINI_API_KEY") and environment.get("GOOGLE_API_KEY")
    return "GOOGLE_API_KEY" if is_google else None


def _request(provider: str, endpoint: Endpoint) -> tuple[str, dict[str, str]]:
    if provider == "anthropic":
        headers = {"anthropic-version": anthropic.Settings().version}
        key = {"x-api-key": endpoint.key} if endpoint.key else {}
        return endpoint.base_url.removesuffix("/v1") + "/v1/models?limit=1000", {**headers, **key}
    if provider == "google":
        key = {"x-goog-api-key": endpoint.key} if endpoint.key else {}
        return endpoint.base_url + "/models?pageSize=1000", key
    return endpoint.base_url + "/models", bearer(endpoint)


def _read(document: Any, endpoint: Endpoint) -> tuple[ListedModel, ...]:
    try:
        found = document["models"] if "models" in document else document["data"]
        return tuple(sorted((_listed(item) for item in found), key=lambda model: model.name))
    except (AttributeError, KeyError, TypeError, ValueError, ArithmeticError):
        raise ProviderFaultError(f"{endpoint.base_url} sent a list of models of an unknown form") from None


def _listed(item: Mapping[str, Any]) -> ListedModel:
    name = str(item.get("id") or item["name"]).removeprefix("models/")
    context = next((item[key] for key in _CONTEXT if isinstance(item.get(key), int)), None)
    prices = item.get("pricing") or {}
    return ListedModel(name, context, _per_million(prices.get("prompt")), _per_million(prices.get("completion")))


_CONTEXT = ("context_length", "max_model_len", "inputTokenLimit", "max_input_tokens", "context_window")


def _per_million(per_token: Any) -> str | None:
    """OpenRouter prices single tokens, and marks what depends with -1."""
    if per_token is None or Decimal(str(per_token)) < 0:
        return None
    return f"{(Decimal(str(per_token)) * 1_000_000).normalize():f}"


def _remembered(file: Path, oldest_seconds: float | None) -> Listing | None:
    """The list on disk, if it is no older than that; one that cannot be read is as good as none."""
    try:
        document = orjson.loads(file.read_bytes())
        models = tuple(ListedModel(**item) for item in document["models"])
        age = time.time() - document["fetched_at"]
    except (OSError, orjson.JSONDecodeError, KeyError, TypeError):
        return None
    is_fresh = oldest_seconds is None or 0 <= age < oldest_seconds
    return Listing(models, document["fetched_at"]) if is_fresh else None


def _remember(file: Path, listing: Listing) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_suffix(".new")
    draft.write_bytes(orjson.dumps(asdict(listing)))
    draft.replace(file)
