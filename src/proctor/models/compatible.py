"""Providers that speak chat completions at an address of their own: OpenRouter, Hugging Face, Ollama, vLLM."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from proctor.domain.errors import PlanError
from proctor.domain.message import Json
from proctor.domain.model import Model, ModelIdentity
from proctor.models.chat_history import ChatHistoryDialect
from proctor.models.endpoint import HOSTED_DECIDING, HostedSettings, bearer, find_endpoint
from proctor.models.hosted import HostedModel
from proctor.models.provider import Capabilities, Provider
from proctor.models.settings import read_settings, version_of
from proctor.models.transport import Transport

ADAPTER_VERSION = "1"


class OpenRouterSettings(HostedSettings, frozen=True):
    fallbacks: tuple[str, ...] = ()
    """Models to ask, in this order, when the first one fails; the response says which one answered."""
    routing: dict[str, Any] | None = None
    """OpenRouter's provider preferences, as they are: order, only, ignore, sort, max_price and the like."""


_SETTINGS = HostedSettings.__struct_fields__
PROVIDERS = {
    "openrouter": Provider(
        "openrouter",
        "OpenRouter: hundreds of hosted models behind one key",
        key_variable="OPENROUTER_API_KEY",
        base_url="https://openrouter.ai/api/v1",
        capabilities=Capabilities(True, True, True, True, True, True),
        settings=OpenRouterSettings.__struct_fields__,
    ),
    "huggingface": Provider(
        "huggingface",
        "Hugging Face inference providers, or an endpoint of your own (base_url=…)",
        key_variable="HF_TOKEN",
        base_url="https://router.huggingface.co/v1",
        capabilities=Capabilities(True, True, False, True, True, True),
        settings=_SETTINGS,
    ),
    "ollama": Provider(
        "ollama",
        "Ollama on this machine, or where OLLAMA_HOST says",
        base_url="http://127.0.0.1:11434/v1",
        is_key_required=False,
        capabilities=Capabilities(True, True, False, True, True, True),
        settings=_SETTINGS,
    ),
    "vllm": Provider(
        "vllm",
        "vLLM on this machine, or elsewhere (base_url=…)",
        key_variable="VLLM_API_KEY",
        base_url="http://127.0.0.1:8000/v1",
        is_key_required=False,
        capabilities=Capabilities(True, True, False, True, True, True),
        settings=_SETTINGS,
    ),
}


def create_openrouter(name: str, settings: Mapping[str, Any], environment: Mapping[str, str], folder: Path) -> Model:  # noqa: ARG001
    given = read_settings(OpenRouterSettings, settings, "openrouter")
    fields: dict[str, Json] = {"usage": {"include": True}}
    if given.fallbacks:
        fields["models"] = [name, *given.fallbacks]
    if given.routing:
        fields["provider"] = given.routing
    unbounded = None
    if given.fallbacks:
        named = ", ".join(given.fallbacks)
        unbounded = f"may be answered by its fallbacks, at their own prices: leave out fallbacks ({named})"
    return _create("openrouter", name, given, environment, fields, unbounded)


def create_huggingface(name: str, settings: Mapping[str, Any], environment: Mapping[str, str], folder: Path) -> Model:  # noqa: ARG001
    return _create("huggingface", name, read_settings(HostedSettings, settings, "huggingface"), environment)


def create_ollama(name: str, settings: Mapping[str, Any], environment: Mapping[str, str], folder: Path) -> Model:  # noqa: ARG001
    given = read_settings(HostedSettings, settings, "ollama")
    host = environment.get("OLLAMA_HOST", "").strip()
    if given.base_url is None and host:
        given = replace(given, base_url=_ollama_url(host))
    return _create("ollama", name, given, environment)


def create_vllm(name: str, settings: Mapping[str, Any], environment: Mapping[str, str], folder: Path) -> Model:  # noqa: ARG001
    return _create("vllm", name, read_settings(HostedSettings, settings, "vllm"), environment)


def _create(
    provider: str,
    name: str,
    settings: HostedSettings,
    environment: Mapping[str, str],
    fields: Mapping[str, Json] | None = None,
    unbounded: str | None = None,
) -> Model:
    if not name:
        raise PlanError(f"{provider} needs a model's name: write {provider}/NAME.")
    endpoint = find_endpoint(PROVIDERS[provider], name, settings, environment)
    url = f"{endpoint.base_url}/chat/completions"
    deciding = [field for field in ("fallbacks", "routing") if hasattr(settings, field)]
    version = version_of(ADAPTER_VERSION, settings, *deciding, *HOSTED_DECIDING)
    return HostedModel(
        ModelIdentity(provider, name, url, version),
        Transport(endpoint.target),
        ChatHistoryDialect(fields=fields or {}),
        url=url,
        headers=bearer(endpoint),
        is_streaming=settings.stream,
        accepts=settings.accepts(has_documents=PROVIDERS[provider].capabilities.documents),
        unbounded=unbounded,
        allowance=settings.allowance(endpoint.target.model),
    )


def _ollama_url(host: str) -> str:
    """OLLAMA_HOST as Ollama reads it: a host, a host with a port, or a whole address."""
    scheme, separator, rest = host.rpartition("://")
    rest = rest.rstrip("/").replace("0.0.0.0", "127.0.0.1")  # noqa: S104 - where a server listens is not where to ask
    if not separator and ":" not in rest:
        rest += ":11434"
    return f"{scheme or 'http'}://{rest}/v1"
