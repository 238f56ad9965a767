"""Anthropic's messages API."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from proctor.domain.errors import PlanError
from proctor.domain.model import Model, ModelIdentity
from proctor.models.endpoint import HOSTED_DECIDING, HostedSettings, find_endpoint
from proctor.models.hosted import HostedModel
from proctor.models.messages import MessagesDialect
from proctor.models.provider import Capabilities, Provider
from proctor.models.settings import read_settings, version_of
from proctor.models.transport import Transport

ADAPTER_VERSION = "1"


class AnthropicSettings(HostedSettings, frozen=True):
    version: str = "2023-06-01"
    """The API's version; from 2026-10-21 on it refuses temperature, top_p and top_k."""
    beta: tuple[str, ...] = ()
    cache: bool = False
    """Ask the provider to cache the prompt's beginning."""
    default_limit: int = 8192
    """Sent as max_tokens when a plan sets none, because the API demands one."""


PROVIDER = Provider(
    "anthropic",
    "Anthropic's Claude models",
    key_variable="ANTHROPIC_API_KEY",
    base_url="https://api.anthropic.com",
    base_url_variable="ANTHROPIC_BASE_URL",
    capabilities=Capabilities(True, True, True, True, False, True),
    settings=AnthropicSettings.__struct_fields__,
)


def create(name: str, settings: Mapping[str, Any], environment: Mapping[str, str], folder: Path) -> Model:  # noqa: ARG001
    given = read_settings(AnthropicSettings, settings, PROVIDER.name)
    if not name:
        raise PlanError("anthropic needs a model's name: write anthropic/claude-sonnet-5, for example.")
    if given.default_limit < 1:
        raise PlanError(f"anthropic: the setting 'default_limit' must be at least 1, not {given.default_limit}.")
    endpoint = find_endpoint(PROVIDER, name, given, environment)
    headers = {"anthropic-version": given.version}
    if endpoint.key:
        headers["x-api-key"] = endpoint.key
    if given.beta:
        headers["anthropic-beta"] = ",".join(given.beta)
    # Both ways of writing the address are in use: with and without the version.
    url = endpoint.base_url.removesuffix("/v1") + "/v1/messages"
    version = version_of(ADAPTER_VERSION, given, "version", "beta", "default_limit", *HOSTED_DECIDING)
    return HostedModel(
        ModelIdentity(PROVIDER.name, name, url, version),
        Transport(endpoint.target),
        MessagesDialect(given.default_limit, given.cache),
        url=url,
        headers=headers,
        is_streaming=given.stream,
        accepts=given.accepts(has_documents=True),
        allowance=given.allowance(endpoint.target.model),
    )
