"""OpenAI, and any server that speaks its chat completions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from proctor.domain.model import Model, ModelIdentity
from proctor.models.chat import ChatModel
from proctor.models.faults import Target
from proctor.models.provider import Capabilities, Provider, find_key
from proctor.models.settings import clean_url, read_settings
from proctor.models.transport import Transport

ADAPTER_VERSION = "1"
BASE_URL = "https://api.openai.com/v1"


@dataclass(frozen=True, slots=True)
class Settings:
    base_url: str = BASE_URL
    stream: bool = False
    organization: str | None = None
    project: str | None = None
    limit_field: Literal["max_tokens", "max_completion_tokens"] | None = None
    auth_variable: str | None = None


PROVIDER = Provider(
    "openai",
    "OpenAI, or any server that speaks its API (base_url=…)",
    key_variable="OPENAI_API_KEY",
    base_url=BASE_URL,
    capabilities=Capabilities(True, True, True, True, True, True),
    settings=tuple(field.name for field in fields(Settings)),
)


def create(name: str, settings: Mapping[str, Any], environment: Mapping[str, str], folder: Path) -> Model:  # noqa: ARG001
    given = read_settings(Settings, settings, PROVIDER.name)
    base_url = clean_url(given.base_url, PROVIDER.name)
    key = find_key(PROVIDER, environment, model=name, base_url=base_url, variable=given.auth_variable)
    headers = {"authorization": f"Bearer {key}"} if key else {}
    if given.organization:
        headers["openai-organization"] = given.organization
    if given.project:
        headers["openai-project"] = given.project
    target = Target(f"{PROVIDER.name}/{name}", given.auth_variable or PROVIDER.key_variable, (key,) if key else ())
    url = f"{base_url}/chat/completions"
    limit_field = given.limit_field or default_limit_field(base_url)
    version = ADAPTER_VERSION if given.limit_field is None else f"{ADAPTER_VERSION};limit_field={given.limit_field}"
    return ChatModel(
        ModelIdentity(PROVIDER.name, name, url, version),
        Transport(target),
        url=url,
        headers=headers,
        limit_field=limit_field,
        is_streaming=given.stream,
    )


def default_limit_field(base_url: str) -> str:
    """OpenAI's reasoning models refuse max_tokens, all its models take the new name; other servers know the old one."""
    return "max_completion_tokens" if urlsplit(base_url).hostname == "api.openai.com" else "max_tokens"
