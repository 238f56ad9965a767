"""The models a provider has right now, asked of the provider itself and remembered for a day."""

from __future__ import annotations

import time
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from proctor.domain.errors import NotFoundError, ProviderFaultError
from proctor.domain.identity import digest
from proctor.domain.listed_models import ListedModel, ModelLists, ModelSource, StoredModelList
from proctor.models import anthropic, compatible, google, openai
from proctor.models.destinations import is_loopback
from proctor.models.endpoint import Endpoint, HostedSettings, bearer, find_endpoint
from proctor.models.faults import parse_or_none
from proctor.models.provider import Provider
from proctor.models.transport import Transport
from proctor.offline import is_confined

FRESH_SECONDS = 24 * 3600.0
TIMEOUT_SECONDS = 30.0
PROVIDERS: Mapping[str, Provider] = {
    "openai": openai.PROVIDER,
    "anthropic": anthropic.PROVIDER,
    "google": google.PROVIDER,
    **compatible.PROVIDERS,
}


async def list_models(
    provider: str,
    environment: Mapping[str, str],
    *,
    base_url: str | None = None,
    auth_variable: str | None = None,
    lists: ModelLists | None = None,
    is_refreshing: bool = False,
) -> StoredModelList:
    """The provider's list, at most a day old; NotFoundError when it has none, ModelError when it cannot be had.

    Offline, a list of any age will do for a provider beyond this machine.
    """
    endpoint, url, headers = _place(
        provider, environment, HostedSettings(base_url=base_url, auth_variable=auth_variable)
    )
    # The key itself is not written down.
    source = ModelSource(provider, endpoint.base_url, digest([url, headers]))
    is_cut_off = is_confined() and not is_loopback(url)
    if lists is not None and (is_cut_off or not is_refreshing):
        known = lists.read(source)
        if known is not None and (is_cut_off or 0 <= time.time() - known.fetched_at < FRESH_SECONDS):
            return known
    if is_cut_off:
        raise NotFoundError(f"No list of {provider}'s models was kept, and none is fetched offline.")
    transport = Transport(endpoint.target)
    try:
        reply = await transport.send("GET", url, headers, None, TIMEOUT_SECONDS)
    finally:
        await transport.close()
    listing = StoredModelList(_read(parse_or_none(bytes(reply.body)), endpoint), time.time())
    if lists is not None:
        lists.keep(source, listing)
    return listing


def _place(
    provider: str, environment: Mapping[str, str], settings: HostedSettings
) -> tuple[Endpoint, str, dict[str, str]]:
    if provider not in PROVIDERS:
        raise NotFoundError(f"{provider} has no list of models; these have: {', '.join(sorted(PROVIDERS))}.")
    endpoint = find_endpoint(PROVIDERS[provider], "*", settings, environment)
    return endpoint, *_request(provider, endpoint)


def _request(provider: str, endpoint: Endpoint) -> tuple[str, dict[str, str]]:
    if provider == "anthropic":
        headers = {"anthropic-version": anthropic.AnthropicSettings().version}
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
    return ListedModel(name, context, **_prices(item.get("pricing") or {}), capabilities=_capabilities(item))


def _capabilities(item: Mapping[str, Any]) -> dict[str, bool]:
    """What a list says a model takes and which parameters it has, in OpenRouter's fields; most lists say neither."""
    takes = (item.get("architecture") or {}).get("input_modalities")
    has = item.get("supported_parameters")
    return {
        name: word in words
        for words, named in ((takes, _MODALITIES), (has, _PARAMETERS))
        if isinstance(words, list)
        for name, word in named.items()
    }


def _prices(pricing: Mapping[str, Any]) -> dict[str, str | None]:
    """Rates as far as they say everything: where each request has a fee as well, they do not."""
    rates = {name: _per_million(pricing.get(field)) for name, field in _PRICES.items()}
    if _per_million(pricing.get("request")) not in (None, "0"):
        return {}
    # Rates that are parts of others are 0 where there are none.
    return {name: rate for name, rate in rates.items() if rate != "0" or name in _WHOLE}


_WHOLE = ("input_usd_per_million", "output_usd_per_million")
_PRICES = {
    "input_usd_per_million": "prompt",
    "output_usd_per_million": "completion",
    "cached_usd_per_million": "input_cache_read",
    "written_usd_per_million": "input_cache_write",
    "reasoning_usd_per_million": "internal_reasoning",
}
_MODALITIES = {"images": "image", "documents": "file"}
_PARAMETERS = {"tools": "tools", "logprobs": "logprobs", "structured_output": "structured_outputs"}
_CONTEXT = ("context_length", "max_model_len", "inputTokenLimit", "max_input_tokens", "context_window")


def _per_million(per_token: Any) -> str | None:
    """OpenRouter prices single tokens, and marks what depends with -1."""
    if per_token is None or not Decimal(str(per_token)).is_finite() or Decimal(str(per_token)) < 0:
        return None
    return f"{(Decimal(str(per_token)) * 1_000_000).normalize():f}"
