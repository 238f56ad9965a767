"""OpenAI, and any server that speaks its API."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from proctor.domain.errors import PlanError
from proctor.domain.model import Model, ModelIdentity
from proctor.models.chat_history import ChatHistoryDialect
from proctor.models.endpoint import HOSTED_DECIDING, HostedSettings, bearer, find_endpoint
from proctor.models.hosted import Dialect, HostedModel
from proctor.models.provider import Capabilities, Provider
from proctor.models.responses import ResponsesDialect
from proctor.models.settings import read_settings, version_of
from proctor.models.transport import Transport

ADAPTER_VERSION = "1"


class OpenAISettings(HostedSettings, frozen=True):
    api: Literal["chat", "responses"] = "chat"
    organization: str | None = None
    project: str | None = None
    limit_field: Literal["max_tokens", "max_completion_tokens"] | None = None


PROVIDER = Provider(
    "openai",
    "OpenAI, or any server that speaks its API (base_url=…)",
    key_variable="OPENAI_API_KEY",
    base_url="https://api.openai.com/v1",
    base_url_variable="OPENAI_BASE_URL",
    capabilities=Capabilities(True, True, True, True, True, True),
    settings=OpenAISettings.__struct_fields__,
)


def create(name: str, settings: Mapping[str, Any], environment: Mapping[str, str], folder: Path) -> Model:  # noqa: ARG001
    given = read_settings(OpenAISettings, settings, PROVIDER.name)
    if not name:
        raise PlanError("openai needs a model's name: write openai/gpt-5-mini, for example.")
    endpoint = find_endpoint(PROVIDER, name, given, environment)
    headers = bearer(endpoint)
    if given.organization:
        headers["openai-organization"] = given.organization
    if given.project:
        headers["openai-project"] = given.project
    # OpenAI's reasoning models refuse max_tokens, all its models take the new name; other servers know the old one.
    limit_field = given.limit_field or ("max_completion_tokens" if endpoint.is_own else "max_tokens")
    dialect: Dialect = ResponsesDialect() if given.api == "responses" else ChatHistoryDialect(limit_field)
    url = endpoint.base_url + ("/responses" if given.api == "responses" else "/chat/completions")
    return HostedModel(
        ModelIdentity(PROVIDER.name, name, url, version_of(ADAPTER_VERSION, given, "limit_field", *HOSTED_DECIDING)),
        Transport(endpoint.target),
        dialect,
        url=url,
        headers=headers,
        is_streaming=given.stream,
        accepts=given.accepts(has_documents=endpoint.is_own or given.api == "responses"),
        allowance=given.allowance(endpoint.target.model),
    )
