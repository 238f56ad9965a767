"""Google's Gemini API."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from proctor.domain.errors import PlanError
from proctor.domain.model import Model, ModelIdentity
from proctor.models.endpoint import HOSTED_DECIDING, HostedSettings, find_endpoint
from proctor.models.gemini import GeminiDialect
from proctor.models.hosted import HostedModel
from proctor.models.provider import Capabilities, Provider
from proctor.models.settings import read_settings, version_of
from proctor.models.transport import Transport

ADAPTER_VERSION = "1"
PROVIDER = Provider(
    "google",
    "Google's Gemini models",
    key_variable="GEMINI_API_KEY",
    other_key_variables=("GOOGLE_API_KEY",),
    base_url="https://generativelanguage.googleapis.com/v1beta",
    capabilities=Capabilities(True, True, True, True, True, True),
    settings=HostedSettings.__struct_fields__,
)


def create(name: str, settings: Mapping[str, Any], environment: Mapping[str, str], folder: Path) -> Model:  # noqa: ARG001
    given = read_settings(HostedSettings, settings, PROVIDER.name)
    if not name:
        raise PlanError("google needs a model's name: write google/gemini-3-flash, for example.")
    endpoint = find_endpoint(PROVIDER, name, given, environment)
    model = f"{endpoint.base_url}/models/{quote(name.removeprefix('models/'), safe='')}"
    return HostedModel(
        ModelIdentity(PROVIDER.name, name, model, version_of(ADAPTER_VERSION, given, *HOSTED_DECIDING)),
        Transport(endpoint.target),
        GeminiDialect(),
        url=f"{model}:streamGenerateContent?alt=sse" if given.stream else f"{model}:generateContent",
        headers={"x-goog-api-key": endpoint.key} if endpoint.key else {},
        is_streaming=given.stream,
        accepts=given.accepts(has_documents=True),
        allowance=given.allowance(endpoint.target.model),
    )
